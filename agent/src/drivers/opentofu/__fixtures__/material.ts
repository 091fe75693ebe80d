import { familyMaterial } from '../../terraform/__fixtures__/family-material.ts';

export const material = familyMaterial('1.12.6');
