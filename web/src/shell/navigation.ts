/** The places of the interface, for the navigation and the command palette. */

export interface NavigationTarget {
  readonly to: string;
  readonly name: string;
  /** The key that leads there after `g`. */
  readonly key?: string;
}

export interface PlaceGroup {
  readonly label: string;
  readonly places: readonly NavigationTarget[];
}

export const navigation = [
  {
    label: 'Work',
    places: [
      { to: '/', name: 'Inbox', key: 'h' },
      { to: '/environments', name: 'Environments', key: 'e' },
      { to: '/projects', name: 'Projects', key: 'p' },
      { to: '/calendar', name: 'Calendar', key: 'c' },
    ],
  },
  {
    label: 'Sources',
    places: [
      { to: '/templates', name: 'Templates', key: 't' },
      { to: '/variables', name: 'Variables', key: 'v' },
      { to: '/configuration-sets', name: 'Configuration sets', key: 's' },
      { to: '/approval-policies', name: 'Approval policies', key: 'y' },
    ],
  },
  {
    label: 'Access',
    places: [
      { to: '/credentials', name: 'Cloud credentials', key: 'd' },
      { to: '/git-tokens', name: 'Git tokens' },
      { to: '/ssh-keys', name: 'SSH keys' },
      { to: '/vcs-connections', name: 'Forges' },
      { to: '/users', name: 'Users', key: 'u' },
      { to: '/teams', name: 'Teams' },
      { to: '/roles', name: 'Roles' },
      { to: '/permissions', name: 'Permissions' },
      { to: '/api-keys', name: 'API keys' },
    ],
  },
  {
    label: 'Operation',
    places: [
      { to: '/agents', name: 'Agents', key: 'a' },
      { to: '/notifications', name: 'Notifications', key: 'n' },
      { to: '/audit', name: 'Audit trail', key: 'l' },
      { to: '/organization', name: 'Organization' },
    ],
  },
] as const satisfies readonly PlaceGroup[];
