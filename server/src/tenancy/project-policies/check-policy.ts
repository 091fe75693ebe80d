/** Rules for the content of a policy. Pure. */
import { badField } from '../../ground/errors.ts';
import { checkTtls } from '../lifetimes/policy-ttl.ts';
import type { PolicySettings } from './policy-settings.ts';

const inherit = 'inherit';

/** @throws Refusal 400 that names the field: lifetimes of the project's own and inherited ones do not mix */
function checkInheritance({ maxTtl, defaultTtl }: PolicySettings): void {
  if ((maxTtl === inherit) === (defaultTtl === inherit)) return;
  const field = maxTtl === inherit ? 'defaultTtl' : 'maxTtl';
  const other = maxTtl === inherit ? 'maxTtl' : 'defaultTtl';
  throw badField(
    `body.${field}`,
    `must be inherit, too, as ${other} is: a project has both lifetimes from its organization, or both of its own`,
  );
}

/**
 * The schedule of drift detection is checked by the family that runs it.
 * @throws Refusal 400 that names the field
 */
export function checkPolicy(settings: PolicySettings, now: Date): void {
  checkInheritance(settings);
  const { maxTtl, defaultTtl, driftDetectionEnabled, driftDetectionCron } = settings;
  if (maxTtl !== inherit) checkTtls(maxTtl, defaultTtl, now);
  if (driftDetectionEnabled && driftDetectionCron.trim() === '')
    throw badField('body.driftDetectionCron', 'is required with driftDetectionEnabled');
}
