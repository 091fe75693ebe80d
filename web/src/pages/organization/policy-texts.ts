/** The policies of an organization as words. */

export interface OrganizationFlag {
  readonly name:
    | 'enableOidc'
    | 'allowServiceSecrets'
    | 'requireApprovalForPrApplies'
    | 'enforcePrCommenterPermissions'
    | 'allowMergeableBypassForPrApply'
    | 'disablePrComments'
    | 'doNotReportSkippedStatusChecks'
    | 'doNotConsiderMergeCommitsForPrPlans';
  readonly label: string;
  readonly meaning: string;
}

/** Settings with an effect. */
export const flagsWithEffect: readonly OrganizationFlag[] = [
  {
    name: 'enableOidc',
    label: 'Every run gets an OIDC token',
    meaning: 'As ENVARIUM_OIDC_TOKEN, for tools of your own. Its subject names this organization.',
  },
];

/** Settings that are stored for clients, which nothing reads so far. */
export const flagsWithoutEffect: readonly OrganizationFlag[] = [
  {
    name: 'allowServiceSecrets',
    label: 'Secrets of the service',
    meaning: 'Runs may read secrets that the service stores.',
  },
  {
    name: 'requireApprovalForPrApplies',
    label: 'Pull requests: an apply needs an approval',
    meaning: 'An apply that a pull request asks for waits for a person.',
  },
  {
    name: 'enforcePrCommenterPermissions',
    label: 'Pull requests: commenters need the right',
    meaning: 'A command in a comment needs the rights of its author.',
  },
  {
    name: 'allowMergeableBypassForPrApply',
    label: 'Pull requests: apply before they can be merged',
    meaning: 'An apply does not wait until the pull request can be merged.',
  },
  {
    name: 'disablePrComments',
    label: 'Pull requests: no comments',
    meaning: 'Plans are not written as comments.',
  },
  {
    name: 'doNotReportSkippedStatusChecks',
    label: 'Pull requests: no skipped checks',
    meaning: 'Checks that were skipped are not reported.',
  },
  {
    name: 'doNotConsiderMergeCommitsForPrPlans',
    label: 'Pull requests: without merge commits',
    meaning: 'Merge commits do not start plans.',
  },
];
