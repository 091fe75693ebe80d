import type { MakeSample } from '../samples.ts';

export const sample: MakeSample = () => ({ ids: { agent: 'ENVARIUM_DEFAULT' } });
