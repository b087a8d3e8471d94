import { config } from 'zod';

// Imported before any schema: zod would else try whether it may make code from text, which the page's policy forbids.
config({ jitless: true });
