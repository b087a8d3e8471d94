import { zstdCompressSync } from 'node:zlib';
import { fileWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import type { AnyRow, Cell, ColumnKind, Columns, TableWriter } from './columns.ts';

/** A row group is written when it has so many rows, or so many characters of text: unwritten rows are in memory. */
const groupRows = 50_000;
const groupCharacters = 2 ** 25;

/** A Parquet file, compressed with Zstandard. Times are in UTC, to the millisecond. */
export function writeParquet(path: string, columns: Columns): TableWriter {
  const kinds = Object.entries(columns);
  const writer = new ParquetWriter({
    ...{ writer: fileWriter(path), schema: schemaOf(kinds), createdBy: 'mlagentbench' },
    ...{ codec: 'ZSTD', compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) } },
  });
  let rows: AnyRow[] = [];
  let characters = 0;
  const writeGroup = async () => {
    if (rows.length === 0) return;
    const columnData = kinds.map(([name, kind]) => ({
      name,
      data: rows.map((row) => parquetCell(kind, row[name] ?? null)),
    }));
    await writer.write({ columnData, rowGroupSize: rows.length });
    rows = [];
    characters = 0;
  };
  return {
    async add(more) {
      for (const row of more) {
        rows.push(row);
        for (const cell of Object.values(row)) if (typeof cell === 'string') characters += cell.length;
        if (rows.length >= groupRows || characters >= groupCharacters) await writeGroup();
      }
    },
    async finish() {
      await writeGroup();
      await writer.finish();
    },
  };
}

function schemaOf(kinds: readonly (readonly [string, ColumnKind])[]): SchemaElement[] {
  return [
    { name: 'root', num_children: kinds.length },
    ...kinds.flatMap(([name, kind]) => element(name, kind)),
  ];
}

const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const;
const time = {
  ...({ type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' } as const),
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
} as const;

function element(name: string, kind: ColumnKind): SchemaElement[] {
  const repetition_type = 'OPTIONAL';
  switch (kind) {
    case 'text':
      return [{ name, ...text, repetition_type }];
    case 'integer':
      return [{ name, type: 'INT64', repetition_type }];
    case 'number':
      return [{ name, type: 'DOUBLE', repetition_type }];
    case 'boolean':
      return [{ name, type: 'BOOLEAN', repetition_type }];
    case 'time':
      return [{ name, ...time, repetition_type }];
    case 'texts':
      return [
        { name, repetition_type, converted_type: 'LIST', logical_type: { type: 'LIST' }, num_children: 1 },
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        { name: 'element', ...text, repetition_type },
      ];
  }
}

function parquetCell(kind: ColumnKind, cell: Cell): Cell | bigint | Date {
  if (typeof cell !== 'number') return cell;
  if (kind === 'integer') return BigInt(cell);
  return kind === 'time' ? new Date(cell) : cell;
}
