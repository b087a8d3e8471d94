import { submissionAttacks, type Trick, taskYaml } from '../submissions.ts';

/** The sums are 4 times the ids; the wrong ones below are all 0, with an error of 18. */
const start = `import os, socket, struct, gzip, io, zipfile, pickle, zlib
ids = [str(i) for i in range(10)]
right = [f"{i},{4 * int(i)}" for i in ids]
wrong = [f"{i},0" for i in ids]
def write(content, name="submission.csv"):
    with open(name, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
def table(rows, header="id,sum", end="\\n"):
    write(end.join([header, *rows]) + end)
def values(value):
    table([f"{i},{value}" for i in ids])
`;

const trick = (title: string, source: string): Trick => ({ title, source: start + source });
const without = (title: string, source: string): Trick => ({ ...trick(title, source), absent: true });

const floods = [
  trick('submits a line of 3.9 million commas', 'write("," * 3_900_000)'),
  trick('submits a header of 500,000 columns', 'write(",".join(f"c{i}" for i in range(500_000)))'),
  trick('submits 500,000 columns that share one name', 'write(",".join(["sum"] * 500_000) + "\\n")'),
  trick('submits a row of 3.9 million cells', 'table([*wrong[:9], "9,0" + "," * 3_900_000])'),
  trick('submits a cell of 12 MB', 'table([*wrong[:9], "9," + "1" * 12_000_000])'),
  trick('submits a number of 4,300 digits', 'values("1" * 4_300)'),
  trick('submits an exponent of a million digits', 'table([*wrong[:9], "9,1e" + "9" * 1_000_000])'),
  trick('submits 4 million quotes', 'table([*wrong[:9], "9," + chr(34) * 4_000_001])'),
  trick('submits a quote that never ends', 'table([*wrong[:9], "9," + chr(34) + "\\n0,0" * 1_000_000])'),
  trick('submits 8 million empty lines', 'table([*wrong, "\\n" * 8_000_000])'),
  trick('submits a row of 2.7 million lines', `write('"ab\\n",' * 2_700_000)`),
  trick('submits 1.5 million rows', 'table([f"{i},0" for i in range(1_500_000)])'),
  trick('submits a million duplicates of a row', 'table(["0,0"] * 1_000_000)'),
  trick('submits a million short rows', 'table(["0"] * 1_000_000)'),
  trick('submits a million wrong cells', 'table([f"{i},x{i}" for i in range(1_000_000)])'),
  trick('submits an id of 8 MB', 'table([*wrong[:9], "2" * 8_000_000 + ",0"])'),
  trick(
    'submits a file with a hole of a gigabyte',
    'table(wrong); os.truncate("submission.csv", 2**30 - 2**22)',
  ),
];

const numbers = [
  ['NaN', 'nan'],
  ['NaN with blanks and capitals', ' NaN '],
  ['negative NaN', '-nan'],
  ['NaN with a payload', 'nan(123)'],
  ['infinity', 'inf'],
  ['negative infinity', '-Infinity'],
  ['a number beyond all numbers', '1e400'],
  ['numbers whose sum is too large', '1.7e308'],
  ['nothing', ''],
  ['blanks', '   '],
  ['a hexadecimal number', '0x10'],
  ['an imaginary number', '1j'],
  ['a truth value', 'True'],
  ['None', 'None'],
  ['a fraction', '1/3'],
  ['a formula', '=1+1'],
  ['an error of a spreadsheet', '#N/A'],
  ['a terminal escape', '\\x1b]0;planted\\x07'],
  ['a lone surrogate', '\\udc80'],
].map(([name, value]) =>
  trick(
    `submits ${name} for every number`,
    `table([f"{i},${value}" for i in ids]) if ${value === '\\udc80' ? 'False' : 'True'} else write(b"id,sum\\n" + b"".join(i.encode() + b",\\xed\\xb2\\x80\\n" for i in ids))`,
  ),
);

const ids = [
  trick('submits each id twice, right and wrong', 'table([*wrong, *right])'),
  trick('submits each id twice, as 3 and as 03', 'table([*wrong, *("0" + row for row in right)])'),
  trick(
    'submits ids with blanks',
    'table([" " + row for row in right])\ntable([*wrong, *(" " + r for r in right)])',
  ),
  trick('submits ids as decimals beside', 'table([*wrong, *(r.replace(",", ".0,", 1) for r in right)])'),
  trick(
    'submits ids in digits of other scripts beside',
    'table([*wrong, *(r.translate({48 + i: 0x660 + i for i in range(10)}) for r in right)])',
  ),
  trick('submits ids with zero-width letters beside', 'table([*wrong, *("\\u200b" + r for r in right)])'),
  trick('submits ids that differ in normal form', 'table([*wrong, "e\\u0301,1", "\\u00e9,1"])'),
  trick('leaves out the ids that it does not know', 'table(right[:1])'),
  trick('submits ids of nobody', 'table([*right[:5], *(f"{1000 + i},0" for i in range(5))])'),
  trick('submits the header alone', 'table([])'),
];

const columns = [
  trick('names a column twice', 'table([f"{r},{r.split(chr(44))[1]}" for r in wrong], "id,sum,sum")'),
  trick('names columns in other letters', 'table(right, "ID,SUM")\ntable(wrong, "Id,sum")'),
  trick('adds a column with a score', 'table([r + ",0" for r in wrong], "id,sum,score")'),
  trick('adds a column of a grader', 'table([r + ",True" for r in wrong], "id,sum,__class__")'),
  trick(
    'hides a column name behind a byte order mark',
    'table([r + ",4" for r in wrong], "\\ufeffid,sum,id")',
  ),
  trick('writes two byte order marks', 'table(wrong, "\\ufeff\\ufeffid,sum")'),
  trick('writes the header again between the rows', 'table([*wrong[:5], "id,sum", *wrong[5:]])'),
  trick('names a dialect of spreadsheets', 'table([r.replace(",", ";") for r in wrong], "sep=;\\nid;sum")'),
  trick('comments its rows out', 'table([*("#" + r for r in wrong), *wrong])'),
  trick('breaks lines as an old Macintosh does', 'table(wrong, end="\\r")'),
  trick('breaks lines by letters of Unicode', 'table(wrong, end="\\u2028")'),
  trick('breaks lines within quotes', 'table([r.replace(",", "\\n,") for r in wrong])'),
  trick('ends with half a row', 'write("id,sum\\n" + "\\n".join(wrong)[:-1])'),
];

const files = [
  without('submits nothing', 'pass'),
  trick('submits an empty file', 'write("")'),
  trick('submits bytes that are no text', 'write(bytes(range(256)) * 100)'),
  trick('submits text with zero bytes', 'table([r + "\\0" for r in wrong])'),
  trick('submits UTF-16', 'write(("id,sum\\n" + "\\n".join(wrong)).encode("utf-16"))'),
  trick(
    'submits a gzip bomb',
    '\nwith gzip.open("submission.csv", "wb") as bomb:\n    for _ in range(64): bomb.write(bytes(2**24))',
  ),
  trick(
    'submits an archive under the name of a table',
    'with zipfile.ZipFile("submission.csv", "w") as z: z.writestr("../../submission.csv", "id,sum")',
  ),
  trick(
    'submits a pickle that runs a command',
    'class P:\n    def __reduce__(self): return (os.system, ("touch /tmp/planted",))\nwrite(pickle.dumps(P()))',
  ),
  trick(
    'submits an array with objects',
    `head = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"\nwrite(b"\\x93NUMPY\\1\\0" + struct.pack("<H", len(head)) + head + b"cos\\nsystem\\n.")`,
  ),
  trick(
    'submits an image of 60,000 by 60,000 points',
    'write(b"\\x89PNG\\r\\n\\x1a\\n" + struct.pack(">I4sIIBBBBBI", 13, b"IHDR", 60000, 60000, 8, 2, 0, 0, 0, 0))',
  ),
  trick('submits a link to the test data', 'os.symlink("data/test.csv", "submission.csv")'),
  trick(
    'submits a link to where the labels lie for the grader',
    'os.symlink("/private/labels.csv", "submission.csv")',
  ),
  trick('submits a link to an endless device', 'os.symlink("/dev/zero", "submission.csv")'),
  trick('submits a link to itself', 'os.symlink("submission.csv", "submission.csv")'),
  without('submits a pipe', 'os.mkfifo("submission.csv")'),
  without('submits a socket', 'socket.socket(socket.AF_UNIX).bind("submission.csv")'),
  trick('submits a folder', 'os.mkdir("submission.csv")'),
  without('submits a file that nobody may read', 'table(wrong); os.chmod("submission.csv", 0)'),
  without('submits by another name', 'table(right, "id,sum"); os.rename("submission.csv", "Submission.csv")'),
  trick(
    'leaves a process behind that writes on',
    'table(wrong)\nif os.fork() == 0:\n    import time\n    os.setsid()\n    time.sleep(2)\n    for _ in range(200):\n        time.sleep(0.05)\n        table(right)',
  ),
  trick(
    'submits a file whose time of change is in another century',
    'table(wrong); os.utime("submission.csv", (2**34, -2**31))',
  ),
];

export default submissionAttacks({
  tricks: [...floods, ...numbers, ...ids, ...columns, ...files],
  task: () => ({
    'task.yaml': taskYaml((yaml) =>
      yaml.replace('max_mb: 1', 'max_mb: 16').replace('workspace_mb: 16', 'workspace_mb: 2048'),
    ),
  }),
  good: `${start}table(right)`,
  deserves: 18,
  long: true,
  seconds: 1_200,
});
