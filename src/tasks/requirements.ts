import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { sha256 } from '../lib/hash.ts';

/** One line of a requirements.txt that is not an exact pin. */
export interface LooseRequirement {
  /** From 1. */
  line: number;
  text: string;
}

/** `name==version`, optionally with extras and an environment marker. */
const pinned = /^[A-Za-z0-9][\w.-]*(\[[\w.,\s-]+\])?\s*==\s*[A-Za-z0-9][\w.+!-]*(\s*;.+)?$/;

function withoutComment(line: string): string {
  return line.replace(/(^|\s)#.*$/, '').trim();
}

export function looseRequirements(text: string): LooseRequirement[] {
  return text
    .split(/\r?\n/)
    .map((line, index) => ({ line: index + 1, text: withoutComment(line) }))
    .filter((line) => line.text !== '' && !pinned.test(line.text));
}

/**
 * The requirements without comments, order, case and spelling variants of names: equivalent texts give the same lines.
 */
export function normaliseRequirements(text: string): string[] {
  return [...readRequirements(text).keys()].sort();
}

/**
 * Each requirement, normalised as above, with the hashes that a lock has for its files: ` --hash=sha256:… …`, or
 * nothing.
 */
export function readRequirements(text: string): Map<string, string> {
  const lines = text
    .split(/\r?\n/)
    .map(withoutComment)
    .filter((line) => line !== '');
  return new Map(
    lines.map((line) => {
      const [, whole = '', hashes = ''] = /^(.*?)((?:\s+--hash=sha256:[0-9a-f]{64})*)$/.exec(line) ?? [];
      return [spelled(whole), hashes];
    }),
  );
}

/** The normalised name of the package that a requirement is about. */
export function packageOf(requirement: string): string {
  return spelled(requirement).replace(/[[=;].*$/, '');
}

function spelled(line: string): string {
  const [requirement = '', ...marker] = line.split(';');
  const compact = requirement.replace(/\s+/g, '');
  const name = compact.replace(/[=[<>!~].*$/, '');
  const rest = compact.slice(name.length);
  const whole = name.toLowerCase().replace(/[-_.]+/g, '-') + rest;
  return marker.length === 0 ? whole : `${whole}; ${marker.join(';').trim()}`;
}

/** The path of the lock for some requirements: one file for all tasks of a folder that have the same ones. */
export function lockFile(tasks: string, requirements: string): string {
  const key = sha256(normaliseRequirements(requirements).join('\n')).slice(0, 16);
  return join(tasks, '.locks', `${key}.txt`);
}

/**
 * The requirements with the hashes of their lock, if there is one that fits them.
 * @param tasks the folder of the tasks
 */
export function withLock(tasks: string, requirements: string): string {
  const file = lockFile(tasks, requirements);
  if (!existsSync(file)) return requirements;
  const locked = readFileSync(file, 'utf8');
  const isOfThese = isDeepStrictEqual(normaliseRequirements(locked), normaliseRequirements(requirements));
  return isOfThese ? locked : requirements;
}
