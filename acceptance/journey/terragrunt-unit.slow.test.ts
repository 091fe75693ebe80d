/** One unit of Terragrunt, with terraform, on the journey. */
import { journey } from './journey.ts';
import { single, traveller } from './terragrunt-layouts.ts';

journey(traveller('with one unit and terraform', single, 'terraform'));
