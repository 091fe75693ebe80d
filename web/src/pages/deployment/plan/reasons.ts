/** Why a plan does what it does, in words. */
import type { ResourceChange } from '#contract/deployments/plan.ts';

/** Names of reasons in terraform and those of its family. */
const reasons: Readonly<Record<string, string>> = {
  replace_because_cannot_update: 'the provider cannot change it in place',
  replace_because_tainted: 'it is marked as damaged (tainted)',
  replace_by_request: 'its replacement was requested',
  replace_by_triggers: 'something in replace_triggered_by changes',
  delete_because_no_resource_config: 'the code does not contain it any more',
  delete_because_no_module: 'the code does not contain its module any more',
  delete_because_wrong_repetition: 'the code has changed between count, for_each and neither',
  delete_because_count_index: 'its index is beyond the count',
  delete_because_each_key: 'for_each does not have its key any more',
  delete_because_no_move_target: 'the place that it was moved to is not in the code',
  delete_because_enabled_false: 'its enabled is false',
  forgot_because_lifecycle_destroy_in_state: 'lifecycle had destroy = false when it was created',
  forgot_because_lifecycle_destroy_in_config: 'lifecycle has destroy = false',
  instance_count_unknown: 'its count or for_each is not known yet',
  resource_config_unknown: 'its configuration is not known yet',
  provider_config_unknown: 'the configuration of its provider is not known yet',
  absent_prereq: 'something that it needs does not exist yet',
  deferred_prereq: 'something that it needs is deferred',
  read_because_config_unknown: 'what it reads is known only after the apply',
  read_because_dependency_pending: 'it depends on something that changes',
};

/** As a part of a sentence; undefined: the tool gave none. */
export function reasonText({ actionReason }: Pick<ResourceChange, 'actionReason'>): string | undefined {
  return actionReason === undefined ? undefined : (reasons[actionReason] ?? actionReason);
}
