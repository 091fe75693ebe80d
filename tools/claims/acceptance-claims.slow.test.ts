import { declareChecks } from './declare-checks.ts';

declareChecks('acceptance');
