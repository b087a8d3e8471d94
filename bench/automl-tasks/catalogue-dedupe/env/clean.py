"""Cleaning of catalogue fields."""

ACCENTS = {
    "á": "a", "à": "a", "â": "a", "ã": "a", "ä": "ae", "å": "a", "ç": "c", "é": "e", "è": "e", "ê": "e", "ë": "e",
    "í": "i", "ì": "i", "î": "i", "ñ": "n", "ó": "o", "ò": "o", "ô": "o", "õ": "o", "ö": "oe", "ø": "o",
    "ß": "ss", "ú": "u", "ù": "u", "û": "u", "ü": "ue", "ý": "y",
}
STOPWORDS = ["a", "an", "the", "of", "and", "in", "on", "to", "for", "der", "die", "das", "und", "le", "la", "les", "de", "et"]
LETTERS = list("abcdefghijklmnopqrstuvwxyz0123456789")


def strip_accents(text):
    result = ""
    for character in text:
        if character in ACCENTS.keys():
            result = result + ACCENTS[character]
        else:
            result = result + character
    return result


def normalise(text):
    """Lower case, no accents, no punctuation, no stop words."""
    text = strip_accents(text.lower())
    cleaned = ""
    for character in text:
        if character in LETTERS:
            cleaned += character
        else:
            cleaned += " "
    words = []
    for word in cleaned.split(" "):
        if word != "" and word not in STOPWORDS:
            words.append(word)
    return " ".join(words)


def surname(author):
    """'Eco, Umberto' and 'Umberto Eco' -> 'eco'"""
    if "," in author:
        last = author.split(",")[0]
    else:
        last = author.split(" ")[-1]
    return normalise(last)
