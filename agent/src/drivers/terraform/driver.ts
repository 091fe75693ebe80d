/** The driver of terraform; tried with 1.11.4. */
import { terraformFamily } from './family.ts';
import { terraformFiles } from './files.ts';

export const terraform = terraformFamily({
  type: 'terraform',
  program: 'terraform',
  stepPrefix: 'tf',
  fileRules: terraformFiles,
  writesEvents: false,
  readsVariablesEarly: false,
});
