/** All units of a folder, with OpenTofu, on the journey. */
import { journey } from './journey.ts';
import { all, traveller } from './terragrunt-layouts.ts';

journey(traveller('with all units and OpenTofu', all, 'opentofu'));
