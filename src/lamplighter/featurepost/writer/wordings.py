"""The English voice's wordings, in pairs: for several products, for one alone. Those with a promise need facts."""

from __future__ import annotations

TITLES = (
    ("{Things}, side by side", "{The_a}, on its own"),
    ("A closer look at {things}", "A closer look at {the_a}"),
    ("{Things}, plainly told", "{The_a}, plainly told"),
    ("Meet {things}", "Meet {the_a}"),
    ("{Things} to look at slowly", "{The_a}, looked at slowly"),
    ("In the shop: {things}", "In the shop: {the_a}"),
    ("{Things}, up close", "{The_a}, up close"),
    ("Notes on {things}", "Notes on {the_a}"),
    ("Starting with {the_a}", "It starts with {the_a}"),
    ("{Things}, one by one", "{The_a}, bit by bit"),
    ("From our shelf: {things}", "From our shelf: {the_a}"),
    ("{Things} at a glance", "{The_a} at a glance"),
    ("A short guide to {things}", "A short guide to {the_a}"),
    ("{Things} in plain words", "{The_a} in plain words"),
    ("Small facts about {things}", "Small facts about {the_a}"),
    ("Here are {things}", "Here is {the_a}"),
    ("{Things} and what to know", "{The_a} and what to know"),
    ("Getting to know {things}", "Getting to know {the_a}"),
    ("{Things} in a row", "{The_a} in focus"),
    ("Taking a look at {things}", "Taking a look at {the_a}"),
    ("A word on {things}", "A word on {the_a}"),
    ("{Things} in detail", "{The_a} in detail"),
    ("On the shelf: {things}", "On the shelf: {the_a}"),
    ("What to know about {things}", "What to know about {the_a}"),
)
MODEST_TITLES = {
    2: ("{Things}, in pictures", "{The_a}, in pictures"),
    7: ("Say hello to {things}", "Say hello to {the_a}"),
    12: ("Have you seen {things}?", "Have you seen {the_a}?"),
    13: ("{Things}, shown plainly", "{The_a}, shown plainly"),
    14: ("Showing {things}", "Showing {the_a}"),
    16: ("{Things}, and nothing else", "{The_a}, and nothing else"),
    17: ("Picture by picture: {things}", "Picture by picture: {the_a}"),
    20: ("Now showing: {things}", "Now showing: {the_a}"),
    21: ("{Things} to see", "{The_a}, as it is"),
    23: ("Swipe through {things}", "Swipe to see {the_a}"),
}
"""What stands instead of a title that promises facts, by its place in TITLES."""
OPENINGS = (
    ("Here are {things} from {brand}, with the facts that help when choosing.",
     "Here is {the_a} from {brand}, with the facts that help when choosing."),
    ("A quiet look at {things}: plain facts, no fuss.", "A quiet look at {the_a}: plain facts, no fuss."),
    ("We put {things} next to each other and wrote down what is worth knowing.",
     "We took {the_a} from the shelf and wrote down what is worth knowing."),
    ("In the shop, and on these pages: {things}.", "In the shop, and looked at properly: {the_a}."),
    ("{Things}, and a few facts about them.", "{The_a}, and a few facts about it."),
    ("If you are wondering about {things}, this may help.", "If you are wondering about {the_a}, this may help."),
    ("May we introduce {things}?", "May we introduce {the_a}?"),
    ("This post is about {things}. Nothing more, nothing less.",
     "This post is about {the_a}. Nothing more, nothing less."),
    ("We begin with {the_a}, then go on to {rest}.", "We begin and end with {the_a}."),
    ("A few words on {things} from {brand}.", "A few words on {the_a} from {brand}."),
    ("Swipe through {things}: a slide each, and the plain facts.",
     "Swipe to see {the_a}, with the plain facts."),
    ("We like to keep descriptions short, so here are a few lines on {things}.",
     "We like to keep descriptions short, so {the_a} gets a few lines."),
    ("From {brand}: {things}, described the way we would over the counter.",
     "From {brand}: {the_a}, described the way we would over the counter."),
)  # fmt: skip
MODEST_OPENINGS = (
    ("Here are {things} from {brand}, a picture each.", "Here is {the_a} from {brand}."),
    ("A quiet look at {things}.", "A quiet look at {the_a}."),
    ("We put {things} next to each other, for you to compare.", "We took {the_a} from the shelf for you to look at."),
    ("In the shop, and on these slides: {things}.", "In the shop, and on these slides: {the_a}."),
    ("{Things}, one after the other.", "{The_a}, on slides of its own."),
    ("Have you seen {things} yet?", "Have you seen {the_a} yet?"),
    ("May we introduce {things}?", "May we introduce {the_a}?"),
    ("This post shows {things}. Nothing more, nothing less.", "This post shows {the_a}. Nothing more, nothing less."),
    ("We begin with {the_a}, then go on to {rest}.", "We begin and end with {the_a}."),
    ("Swipe for a closer look at {things} from {brand}.", "Swipe for a closer look at {the_a} from {brand}."),
    ("{Things}, on a slide each.", "Swipe to see {the_a}."),
    ("Few words this time, so the pictures can speak: {things}.", "Few words this time, mostly pictures: {the_a}."),
    ("From {brand}: {things}, as you would find them in the shop.",
     "From {brand}: {the_a}, as you would find it in the shop."),
)  # fmt: skip
MODEST_BODIES = (
    "One slide each, and one line each below. The rest is in the pictures.",
    "The names below are the ones to look for in the shop.",
    "No long text this time. Look first, read the list afterwards.",
    "Swipe to the left for the first, then on to the next.",
    "Pictures first, names second, and then it is up to you.",
    "All of this is quicker seen than described, so we leave it at that.",
    "A short caption, on purpose.",
)
LEADS = (
    "In the order of the slides:",
    "By name, as the shop has them:",
    "What you see, slide by slide:",
    "If one of them catches your eye, its name is in this list:",
    "Here is what everything is called:",
)
"""Sentences that stand before the list of names where there is no fact to tell, and the last words before it."""
KICKERS = ("A closer look", "In the shop", "From the shelf", "Shop notes", "Plain facts", "Worth knowing")
MODEST_KICKERS = ("A closer look", "In the shop", "From the shelf", "Up close", "Slide by slide", "Have a look")
SUBTITLES = ("{names}", "{Materials}", "From {brand}", "{brand} · {handle}", "{promise}", "{names}")
PROMISE = "With the facts on each"
DETAIL_TITLES = ("The details", "Good to know", "More about it", "In detail", "The small print, read out")
CLOSING_TITLES = (
    ("See them in the shop", "See it in the shop"),
    ("Find them in the shop", "Find it in the shop"),
    ("Come and have a look", "Come and have a look"),
    ("There is more in the shop", "There is more in the shop"),
    ("Take your time choosing", "Take your time"),
    ("Have a proper look", "Have a proper look"),
    ("They are in the shop", "It is in the shop"),
)
FAREWELLS = (
    ("Which would you pick?", "Where would you put it?"),
    ("If something is missing here, just ask.", "If something is missing here, just ask."),
    ("Questions are welcome in the comments.", "Questions are welcome in the comments."),
    ("Take your time with them.", "Take your time with it."),
    ("Save this for later if it helps.", "Save this for later if it helps."),
    ("Tell us what else you would like to know.", "Tell us what you would like to know."),
    ("Is there anything else you would like to know?", "Is there anything you would like to know?"),
    ("Know somebody who has been looking for one of these? Pass it on.",
     "Know somebody who has been looking for this? Pass it on."),
    ("Swipe back to the first picture whenever you like; nothing here runs away.",
     "Swipe back to the first picture whenever you like."),
    ("Unsure between them? Write below what it is for.", "Unsure? Write below what it is for."),
    ("Leave a word below: praise, doubts and odd ideas are all welcome.",
     "Leave a word below: praise, doubts and odd ideas are all welcome."),
    ("Show this to whoever you would ask before choosing.", "Show this to whoever you would ask before choosing."),
)  # fmt: skip
