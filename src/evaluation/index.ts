export { readStory } from './read-story.ts';
