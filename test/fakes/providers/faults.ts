/** A fault of one request. */
export type Fault =
  /** An error with this status; `body` replaces the format's own error. */
  | { kind: 'status'; status: number; headers?: Record<string, string>; message?: string; body?: unknown }
  /** A stream that reports an overload half-way; status 503 if the reply is not a stream. */
  | { kind: 'overload-mid-stream' }
  /** The connection is cut half-way. */
  | { kind: 'cut' }
  /** The reply ends half-way, as if it were complete. */
  | { kind: 'end-early' }
  /** The connection is cut before any answer. */
  | { kind: 'reset' }
  /** No answer for this long. */
  | { kind: 'slow-headers'; ms: number }
  /** Half of the reply is sent, then nothing more. */
  | { kind: 'stall' }
  /** Not JSON, but with a success status. */
  | { kind: 'wrong-json' }
  /** JSON, but of another schema. */
  | { kind: 'other-schema' }
  | { kind: 'empty-body' }
  /** A valid reply with neither text nor calls. */
  | { kind: 'empty-answer' };

/** The temporary faults of a real provider under load. */
export const passingFaults: readonly Fault[] = [
  { kind: 'status', status: 429, headers: { 'retry-after-ms': '20' } },
  { kind: 'status', status: 503 },
  { kind: 'status', status: 529 },
  { kind: 'overload-mid-stream' },
  { kind: 'cut' },
  { kind: 'end-early' },
  { kind: 'reset' },
  { kind: 'wrong-json' },
  { kind: 'empty-body' },
  { kind: 'empty-answer' },
];

/** Chooses the fault of each request by its number: the same for the same seed, whatever the order of arrival. */
export type FaultPlan = (requestNumber: number) => Fault | null;

/** The first requests get these faults, in order; later ones none. */
export function faultsInOrder(faults: readonly Fault[]): FaultPlan {
  return (number) => faults[number - 1] ?? null;
}

/** This share (0 to 1) of the requests gets one of these faults. */
export function faultsAtRandom(
  share: number,
  seed: number,
  faults: readonly Fault[] = passingFaults,
): FaultPlan {
  return (number) => {
    const [first, second] = [random(seed, 2 * number), random(seed, 2 * number + 1)];
    return first < share ? (faults[Math.floor(second * faults.length)] ?? null) : null;
  };
}

/** A number in [0, 1) from two: the mixing steps of MurmurHash3's finaliser. */
function random(seed: number, index: number): number {
  let bits = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}
