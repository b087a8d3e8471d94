def read_fasta(path):
    """dict of name -> sequence"""
    out, name = {}, None
    for line in open(path):
        line = line.strip()
        if line.startswith(">"):
            name = line[1:]
            out[name] = ""
        elif line:
            out[name] += line
    return out
