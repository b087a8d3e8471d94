export { type CollectedRun, collectEntries } from './collect.ts';
export { fingerprintOf } from './fingerprint.ts';
export { chooseLessons, type LessonsWanted } from './lessons.ts';
export { similarity } from './similarity.ts';
export { addEntries, experienceName, experiencePath, readEntries } from './store.ts';
export { searchEntries } from './text-search.ts';
