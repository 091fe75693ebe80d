/**
 * `npm run web`: the web interface from its sources, for people who change it. Calls are sent to the service at
 * ENVARIUM_API_URL, by default the one that `npm start` starts.
 */
import { join } from 'node:path';
import { createServer } from 'vite';
import { root } from './tree/repository.ts';

const server = await createServer({ configFile: join(root, 'web', 'vite.config.ts') });
await server.listen();
server.printUrls();
