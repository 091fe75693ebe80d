/** Words of the page for what the wire has names for. Pure. */
import type { Trigger } from '#contract/schema/enumerations.ts';

/** Causes of a deployment. */
export const triggerWords: Readonly<Record<Trigger, string>> = {
  user: 'on request',
  'terraform-cli': 'from the command line of the tool',
  workflow: 'by a workflow',
  cd: 'by a push',
  prPlan: 'by a pull request',
  driftDetection: 'by the schedule of drift checks',
  ttl: 'because its lifetime ended',
  scheduled: 'by its schedule',
  comment: 'by a comment',
  import: 'by an import',
  driftRemediation: 'to repair drift',
};
