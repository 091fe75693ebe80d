/** The places of the interface, for the navigation and the command palette. */

export interface Target {
  readonly to: string;
  readonly name: string;
}

export interface PlaceGroup {
  readonly label: string;
  readonly places: readonly Target[];
}

export const navigation = [
  {
    label: 'Work',
    places: [
      { to: '/', name: 'Inbox' },
      { to: '/environments', name: 'Environments' },
      { to: '/projects', name: 'Projects' },
    ],
  },
  {
    label: 'Sources',
    places: [
      { to: '/templates', name: 'Templates' },
      { to: '/variables', name: 'Variables' },
      { to: '/configuration-sets', name: 'Variable sets' },
    ],
  },
  {
    label: 'Access',
    places: [
      { to: '/credentials', name: 'Cloud credentials' },
      { to: '/git-tokens', name: 'Git tokens' },
      { to: '/ssh-keys', name: 'SSH keys' },
      { to: '/users', name: 'Users' },
      { to: '/teams', name: 'Teams' },
      { to: '/roles', name: 'Roles' },
      { to: '/permissions', name: 'Permissions' },
      { to: '/api-keys', name: 'API keys' },
    ],
  },
  {
    label: 'Operation',
    places: [
      { to: '/agents', name: 'Agents' },
      { to: '/audit', name: 'Audit trail' },
      { to: '/organization', name: 'Organization' },
    ],
  },
] as const satisfies readonly PlaceGroup[];
