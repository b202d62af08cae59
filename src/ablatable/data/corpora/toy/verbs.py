# ruff: noqa: E501 - a row of a table is one line
"""Verbs of the toy grammar.

Columns: English base, past, participle | German infinitive (a separable prefix before a stroke), third person
present, past, participle, auxiliary | subject classes | objects.

Objects: ``acc:classes``, ``dat:classes``, ``dat:classes acc:classes``, ``prep=german+case:classes``; ``self`` marks a
reflexive verb. English prepositions are part of the English verb ("wait for").
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Verb:
    """One verb and what it takes. ``accusative``, ``dative``, ``prepositional`` are noun classes, empty for none."""

    english: str
    english_past: str
    english_participle: str
    infinitive: str
    prefix: str
    present: str
    past: str
    participle: str
    auxiliary: str
    subjects: frozenset[str]
    accusative: frozenset[str] = frozenset()
    dative: frozenset[str] = frozenset()
    prepositional: frozenset[str] = frozenset()
    preposition: str = ""
    case: str = ""
    reflexive: bool = False

    @property
    def full_infinitive(self) -> str:
        """Return the infinitive with its prefix."""
        return self.prefix + self.infinitive

    @property
    def passive(self) -> bool:
        """Say whether the grammar uses the verb in the passive."""
        return bool(self.accusative) and not self.dative and " " not in self.english and not self.reflexive


_VERBS = """
sleep, slept, slept | schlafen, schläft, schlief, geschlafen, haben | person animal |
work, worked, worked | arbeiten, arbeitet, arbeitete, gearbeitet, haben | person |
laugh, laughed, laughed | lachen, lacht, lachte, gelacht, haben | person |
cry, cried, cried | weinen, weint, weinte, geweint, haben | person |
dance, danced, danced | tanzen, tanzt, tanzte, getanzt, haben | person |
sing, sang, sung | singen, singt, sang, gesungen, haben | person |
smoke, smoked, smoked | rauchen, raucht, rauchte, geraucht, haben | person |
get up, got up, got up | auf/stehen, steht, stand, aufgestanden, sein | person |
wake up, woke up, woken up | auf/wachen, wacht, wachte, aufgewacht, sein | person animal |
fall asleep, fell asleep, fallen asleep | ein/schlafen, schläft, schlief, eingeschlafen, sein | person animal |
come back, came back, come back | zurück/kommen, kommt, kam, zurückgekommen, sein | person animal |
depart, departed, departed | ab/fahren, fährt, fuhr, abgefahren, sein | public |
rest, rested, rested | aus/ruhen, ruht, ruhte, ausgeruht, haben | person | self
hurry, hurried, hurried | beeilen, beeilt, beeilte, beeilt, haben | person | self
read, read, read | lesen, liest, las, gelesen, haben | person | acc:reading
write, wrote, written | schreiben, schreibt, schrieb, geschrieben, haben | person | acc:reading
buy, bought, bought | kaufen, kauft, kaufte, gekauft, haben | person | acc:thing food vehicle
sell, sold, sold | verkaufen, verkauft, verkaufte, verkauft, haben | person | acc:thing food vehicle
see, saw, seen | sehen, sieht, sah, gesehen, haben | person animal | acc:person animal thing vehicle building
hear, heard, heard | hören, hört, hörte, gehört, haben | person animal | acc:person animal
love, loved, loved | lieben, liebt, liebte, geliebt, haben | person | acc:person animal
know, knew, known | kennen, kennt, kannte, gekannt, haben | person | acc:person
find, found, found | finden, findet, fand, gefunden, haben | person | acc:thing animal
look for, looked for, looked for | suchen, sucht, suchte, gesucht, haben | person animal | acc:person animal small
need, needed, needed | brauchen, braucht, brauchte, gebraucht, haben | person | acc:thing vehicle
own, owned, owned | besitzen, besitzt, besaß, besessen, haben | person | acc:vehicle animal building
eat, ate, eaten | essen, isst, aß, gegessen, haben | person | acc:food
drink, drank, drunk | trinken, trinkt, trank, getrunken, haben | person | acc:drink
prepare, prepared, prepared | zu/bereiten, bereitet, bereitete, zubereitet, haben | person | acc:cooked
bake, baked, baked | backen, backt, backte, gebacken, haben | person | acc:baked
order, ordered, ordered | bestellen, bestellt, bestellte, bestellt, haben | person | acc:food drink
wash, washed, washed | waschen, wäscht, wusch, gewaschen, haben | person | acc:garment vehicle
repair, repaired, repaired | reparieren, repariert, reparierte, repariert, haben | person | acc:vehicle device furniture
clean, cleaned, cleaned | putzen, putzt, putzte, geputzt, haben | person | acc:opening furniture
draw, drew, drawn | zeichnen, zeichnet, zeichnete, gezeichnet, haben | person | acc:animal plant building
build, built, built | bauen, baut, baute, gebaut, haben | person | acc:building furniture
visit, visited, visited | besuchen, besucht, besuchte, besucht, haben | person | acc:person site
meet, met, met | treffen, trifft, traf, getroffen, haben | person | acc:person
ask, asked, asked | fragen, fragt, fragte, gefragt, haben | person | acc:person
carry, carried, carried | tragen, trägt, trug, getragen, haben | person | acc:small furniture young
wear, wore, worn | tragen, trägt, trug, getragen, haben | person | acc:garment
open, opened, opened | auf/machen, macht, machte, aufgemacht, haben | person | acc:opening
close, closed, closed | zu/machen, macht, machte, zugemacht, haben | person | acc:opening
switch on, switched on, switched on | ein/schalten, schaltet, schaltete, eingeschaltet, haben | person | acc:electric
switch off, switched off, switched off | aus/schalten, schaltet, schaltete, ausgeschaltet, haben | person | acc:electric
call, called, called | an/rufen, ruft, rief, angerufen, haben | person | acc:person
invite, invited, invited | ein/laden, lädt, lud, eingeladen, haben | person | acc:person
wake, woke, woken | auf/wecken, weckt, weckte, aufgeweckt, haben | person animal | acc:person
collect, collected, collected | ab/holen, holt, holte, abgeholt, haben | person | acc:person small
tidy up, tidied up, tidied up | auf/räumen, räumt, räumte, aufgeräumt, haben | person | acc:room
try on, tried on, tried on | an/probieren, probiert, probierte, anprobiert, haben | person | acc:garment
take off, took off, taken off | aus/ziehen, zieht, zog, ausgezogen, haben | person | acc:garment
look at, looked at, looked at | an/sehen, sieht, sah, angesehen, haben | person | acc:picture person animal building
bring along, brought along, brought along | mit/bringen, bringt, brachte, mitgebracht, haben | person | acc:small toy food
throw away, threw away, thrown away | weg/werfen, wirft, warf, weggeworfen, haben | person | acc:small reading garment
lose, lost, lost | verlieren, verliert, verlor, verloren, haben | person | acc:small garment
forget, forgot, forgotten | vergessen, vergisst, vergaß, vergessen, haben | person | acc:small
steal, stole, stolen | stehlen, stiehlt, stahl, gestohlen, haben | person | acc:small vehicle picture
hide, hid, hidden | verstecken, versteckt, versteckte, versteckt, haben | person | acc:small
feed, fed, fed | füttern, füttert, fütterte, gefüttert, haben | person | acc:animal
catch, caught, caught | fangen, fängt, fing, gefangen, haben | person animal | acc:animal
water, watered, watered | gießen, gießt, goss, gegossen, haben | person | acc:plant
plant, planted, planted | pflanzen, pflanzt, pflanzte, gepflanzt, haben | person | acc:plant
photograph, photographed, photographed | fotografieren, fotografiert, fotografierte, fotografiert, haben | person | acc:person animal building
understand, understood, understood | verstehen, versteht, verstand, verstanden, haben | person | acc:person reading
admire, admired, admired | bewundern, bewundert, bewunderte, bewundert, haben | person | acc:person picture building
greet, greeted, greeted | grüßen, grüßt, grüßte, gegrüßt, haben | person | acc:person
praise, praised, praised | loben, lobt, lobte, gelobt, haben | person | acc:person
help, helped, helped | helfen, hilft, half, geholfen, haben | person | dat:person animal
thank, thanked, thanked | danken, dankt, dankte, gedankt, haben | person | dat:person
follow, followed, followed | folgen, folgt, folgte, gefolgt, sein | person animal | dat:person animal
answer, answered, answered | antworten, antwortet, antwortete, geantwortet, haben | person | dat:person
trust, trusted, trusted | vertrauen, vertraut, vertraute, vertraut, haben | person | dat:person
listen to, listened to, listened to | zu/hören, hört, hörte, zugehört, haben | person | dat:person
congratulate, congratulated, congratulated | gratulieren, gratuliert, gratulierte, gratuliert, haben | person | dat:person
belong to, belonged to, belonged to | gehören, gehört, gehörte, gehört, haben | thing vehicle | dat:person
give, gave, given | geben, gibt, gab, gegeben, haben | person | dat:person acc:small reading food
show, showed, shown | zeigen, zeigt, zeigte, gezeigt, haben | person | dat:person acc:picture animal garment building
send, sent, sent | schicken, schickt, schickte, geschickt, haben | person | dat:person acc:reading small
bring, brought, brought | bringen, bringt, brachte, gebracht, haben | person | dat:person acc:small food
lend, lent, lent | leihen, leiht, lieh, geliehen, haben | person | dat:person acc:vehicle book
offer, offered, offered | an/bieten, bietet, bot, angeboten, haben | person | dat:person acc:food drink
wait for, waited for, waited for | warten, wartet, wartete, gewartet, haben | person | auf+acc:person public
think of, thought of, thought of | denken, denkt, dachte, gedacht, haben | person | an+acc:person topic
talk about, talked about, talked about | sprechen, spricht, sprach, gesprochen, haben | person | über+acc:person topic reading
dream of, dreamed of, dreamed of | träumen, träumt, träumte, geträumt, haben | person | von+dat:person animal topic
laugh at, laughed at, laughed at | lachen, lacht, lachte, gelacht, haben | person | über+acc:person film mistake
play with, played with, played with | spielen, spielt, spielte, gespielt, haben | person animal | mit+dat:young animal toy
look after, looked after, looked after | auf/passen, passt, passte, aufgepasst, haben | person | auf+acc:young animal
take part in, took part in, taken part in | teil/nehmen, nimmt, nahm, teilgenommen, haben | person | an+dat:event
remember, remembered, remembered | erinnern, erinnert, erinnerte, erinnert, haben | person | self an+acc:person topic
look forward to, looked forward to, looked forward to | freuen, freut, freute, gefreut, haben | person | self auf+acc:topic event
take care of, took care of, taken care of | kümmern, kümmert, kümmerte, gekümmert, haben | person | self um+acc:person animal plant
complain about, complained about, complained about | beschweren, beschwert, beschwerte, beschwert, haben | person | self über+acc:person food topic
say goodbye to, said goodbye to, said goodbye to | verabschieden, verabschiedet, verabschiedete, verabschiedet, haben | person | self von+dat:person
"""

_MOTION = """
go, went, gone | gehen, geht, ging, gegangen, sein | person |
drive, drove, driven | fahren, fährt, fuhr, gefahren, sein | person |
run, ran, run | laufen, läuft, lief, gelaufen, sein | person animal |
come, came, come | kommen, kommt, kam, gekommen, sein | person |
travel, travelled, travelled | reisen, reist, reiste, gereist, sein | person |
hike, hiked, hiked | wandern, wandert, wanderte, gewandert, sein | person |
return, returned, returned | zurück/kehren, kehrt, kehrte, zurückgekehrt, sein | person |
"""

_POSITION = """
lie, lay, lain | liegen, liegt, lag, gelegen, haben | animal small garment |
sit, sat, sat | sitzen, sitzt, saß, gesessen, haben | person animal |
stand, stood, stood | stehen, steht, stand, gestanden, haben | person |
wait, waited, waited | warten, wartet, wartete, gewartet, haben | person animal |
"""

_PUT = """
lay, laid, laid | legen, legt, legte, gelegt, haben | person | acc:small book garment
place, placed, placed | stellen, stellt, stellte, gestellt, haben | person | acc:furniture lamp
"""

_THAT = """
say, said, said | sagen, sagt, sagte, gesagt, haben | person |
know, knew, known | wissen, weiß, wusste, gewusst, haben | person |
believe, believed, believed | glauben, glaubt, glaubte, geglaubt, haben | person |
hope, hoped, hoped | hoffen, hofft, hoffte, gehofft, haben | person |
think, thought, thought | denken, denkt, dachte, gedacht, haben | person |
claim, claimed, claimed | behaupten, behauptet, behauptete, behauptet, haben | person |
notice, noticed, noticed | bemerken, bemerkt, bemerkte, bemerkt, haben | person |
hear, heard, heard | hören, hört, hörte, gehört, haben | person |
"""

_WHETHER = """
ask, asked, asked | fragen, fragt, fragte, gefragt, haben | person |
wonder, wondered, wondered | fragen, fragt, fragte, gefragt, haben | person | self
"""

_TO = """
try, tried, tried | versuchen, versucht, versuchte, versucht, haben | person |
forget, forgot, forgotten | vergessen, vergisst, vergaß, vergessen, haben | person |
begin, began, begun | an/fangen, fängt, fing, angefangen, haben | person |
hope, hoped, hoped | hoffen, hofft, hoffte, gehofft, haben | person |
promise, promised, promised | versprechen, verspricht, versprach, versprochen, haben | person |
decide, decided, decided | beschließen, beschließt, beschloss, beschlossen, haben | person |
refuse, refused, refused | weigern, weigert, weigerte, geweigert, haben | person | self
"""


def _objects(text: str) -> dict[str, frozenset[str]]:
    """Read "dat:person acc:small food" as {"dat": {person}, "acc": {small, food}}."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for word in text.split():
        if word == "self":
            found["self"] = []
            continue
        if ":" in word:
            key, word = word.split(":")
            current = found.setdefault(key, [])
        current.append(word)
    return {key: frozenset(words) for key, words in found.items()}


def _verb(row: str) -> Verb:
    english, german, subjects, objects = (cell.strip() for cell in row.split("|"))
    base, past, participle = (word.strip() for word in english.split(","))
    infinitive, present, german_past, german_participle, auxiliary = (word.strip() for word in german.split(","))
    prefix, _, stem = infinitive.rpartition("/")
    takes = _objects(objects)
    prepositional = next((key for key in takes if "+" in key), "")
    preposition, _, case = prepositional.partition("+")
    return Verb(
        base,
        past,
        participle,
        stem,
        prefix,
        present,
        german_past,
        german_participle,
        auxiliary,
        frozenset(subjects.split()),
        accusative=takes.get("acc", frozenset()),
        dative=takes.get("dat", frozenset()),
        prepositional=takes.get(prepositional, frozenset()),
        preposition=preposition,
        case=case,
        reflexive="self" in takes,
    )


def _verbs(table: str) -> list[Verb]:
    return [_verb(row) for row in table.strip().splitlines()]


VERBS = _verbs(_VERBS)
MOTION, POSITION, PUT = _verbs(_MOTION), _verbs(_POSITION), _verbs(_PUT)
THAT, WHETHER, TO = _verbs(_THAT), _verbs(_WHETHER), _verbs(_TO)
BE = _verb("be, was, been | sein, ist, war, gewesen, sein | person |")
