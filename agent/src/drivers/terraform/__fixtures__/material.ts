import { familyMaterial } from './family-material.ts';

export const material = familyMaterial('1.11.4');
