import { journey } from './journey.ts';
import { familyTraveller } from './terraform-family.ts';

journey(await familyTraveller('opentofu'));
