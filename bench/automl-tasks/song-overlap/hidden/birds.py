"""Made-up songs: phrases that birds of a place share, with changes."""


def draw_songs(rng, count):
    alphabet = "abcdefghijkl"
    phrases = ["".join(rng.choices(alphabet, k=rng.randint(3, 8))) for _ in range(12)]
    songs = {}
    for name in rng.sample(range(1000, 9999), count):
        song = []
        while len(song) < rng.randint(55, 75):
            for syllable in rng.choice(phrases):
                fate = rng.random()
                song.extend([] if fate < 0.08 else [rng.choice(alphabet)] if fate < 0.16 else [syllable])
        songs[f"rec{name}"] = "".join(song)
    return songs
