import { config } from 'zod';

// Imported before any schema: otherwise zod tries whether it may compile code, which the page's policy forbids.
config({ jitless: true });
