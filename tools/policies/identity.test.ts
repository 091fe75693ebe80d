import { checkPolicy } from './judge.ts';

const one = (address: string, after: object, more: object = {}) => ({
  resources: [{ address, after: { ...after }, ...more }],
});
const statement = (fields: object, effect = 'Allow') => ({ Effect: effect, Resource: '*', ...fields });
const policy = (...statements: object[]) =>
  one('aws_iam_policy.p', { policy: JSON.stringify({ Version: '2012-10-17', Statement: statements }) });

checkPolicy('iam-policies-must-not-contain-wildcard-actions', [
  ['named actions are allowed', 'allow', policy(statement({ Action: ['s3:GetObject', 's3:Get*'] }))],
  [
    'every action is refused',
    'deny',
    policy(statement({ Action: '*' })),
    /^aws_iam_policy\.p: policy allows "\*"; name the actions/,
  ],
  [
    'every action of a service is refused in a list',
    'deny',
    policy(statement({ Action: ['s3:GetObject', 'iam:*'] })),
  ],
  [
    'a single statement outside of a list is read',
    'deny',
    one('aws_iam_role_policy.p', {
      policy: JSON.stringify({ Statement: statement({ Action: 'iam:*' }) }),
    }),
  ],
  [
    'the second statement is read',
    'deny',
    policy(statement({ Action: 's3:Get*' }), statement({ Action: 'ec2:**' })),
  ],
  ['patterns that mean everything are refused', 'deny', policy(statement({ Action: 'i?m:?*' }))],
  ['NotAction is refused', 'deny', policy(statement({ NotAction: 'iam:*' })), /everything but "iam:\*"/],
  ['statements that deny may use wildcards', 'allow', policy(statement({ Action: '*' }, 'Deny'))],
  [
    'partial wildcards can be forbidden',
    'deny',
    {
      policyConfiguration: { forbidPartialWildcards: true },
      ...policy(statement({ Action: 's3:Get*' })),
    },
  ],
  [
    'inline policies of a role are read',
    'deny',
    one('module.r[0].aws_iam_role.r', {
      inline_policy: [{ name: 'x', policy: JSON.stringify({ Statement: [statement({ Action: '*' })] }) }],
    }),
    /^module\.r\[0\]\.aws_iam_role\.r: inline_policy allows/,
  ],
  [
    'attaching AdministratorAccess is refused',
    'deny',
    one('aws_iam_role_policy_attachment.a', {
      policy_arn: 'arn:aws:iam::aws:policy/AdministratorAccess',
    }),
  ],
  [
    'attaching it in a list is refused, in China as well',
    'deny',
    one('aws_iam_role.r', {
      managed_policy_arns: ['arn:aws-cn:iam::aws:policy/PowerUserAccess'],
    }),
  ],
  [
    'attaching a narrow policy is allowed',
    'allow',
    one('aws_iam_role_policy_attachment.a', {
      policy_arn: 'arn:aws:iam::aws:policy/ReadOnlyAccess',
    }),
  ],
  [
    'a policy that is known later waits for a person',
    'pending',
    one(
      'aws_iam_policy.p',
      {},
      {
        refers: { policy: ['data.aws_iam_policy_document.d.json', 'data.aws_iam_policy_document.d'] },
      },
    ),
    /does not tell its policy/,
  ],
  [
    'a policy that cannot be read waits for a person',
    'pending',
    one('aws_iam_policy.p', { policy: '{' }),
    /no JSON/,
  ],
  [
    'a delete is allowed',
    'allow',
    {
      resources: [{ address: 'aws_iam_policy.p', actions: ['delete'], after: null, before: {} }],
    },
  ],
]);

const complex = {
  require_lowercase_characters: true,
  require_uppercase_characters: true,
  require_numbers: true,
  require_symbols: true,
  minimum_password_length: 14,
  password_reuse_prevention: 24,
  max_password_age: 90,
};
const passwords = (after: object, more: object = {}) => one('aws_iam_account_password_policy.p', after, more);

checkPolicy('iam-password-policy-complexity', [
  ['a strict policy is allowed', 'allow', passwords(complex)],
  [
    'short passwords are refused',
    'deny',
    passwords({ ...complex, minimum_password_length: 8 }),
    /set minimum_password_length = 14/,
  ],
  [
    'the length can be configured',
    'allow',
    {
      policyConfiguration: { minimumLength: 8 },
      ...passwords({ ...complex, minimum_password_length: 8 }),
    },
  ],
  [
    'missing characters are refused',
    'deny',
    passwords({ ...complex, require_symbols: false }),
    /require_symbols = true/,
  ],
  [
    'what the code leaves out is refused',
    'deny',
    passwords(
      {},
      {
        unset: Object.keys(complex),
      },
    ),
  ],
  ['passwords that never age are refused', 'deny', passwords({ ...complex, max_password_age: 0 })],
  [
    'passwords may stay where that is configured',
    'allow',
    {
      policyConfiguration: { maximumAge: 0 },
      ...passwords({ ...complex, max_password_age: 0 }),
    },
  ],
  ['forgetting old passwords is refused', 'deny', passwords({ ...complex, password_reuse_prevention: null })],
  [
    'removing the policy waits for a person',
    'pending',
    {
      resources: [
        { address: 'aws_iam_account_password_policy.p', actions: ['delete'], after: null, before: complex },
      ],
    },
  ],
]);

const member = (role: string) => one('google_project_iam_member.m', { role, member: 'user:a@example.com' });

checkPolicy('prohibit-gcp-primitive-roles', [
  ['a predefined role is allowed', 'allow', member('roles/storage.objectViewer')],
  [
    'an owner is refused',
    'deny',
    member('roles/owner'),
    /^google_project_iam_member\.m: roles\/owner is a basic role/,
  ],
  [
    'an editor of a folder is refused',
    'deny',
    one('module.f.google_folder_iam_binding.b', { role: 'roles/editor' }),
  ],
  [
    'a whole policy is read',
    'deny',
    one('google_project_iam_policy.p', {
      policy_data: JSON.stringify({ bindings: [{ role: 'roles/viewer', members: ['allUsers'] }] }),
    }),
  ],
  [
    'a policy that is known later waits for a person',
    'pending',
    one(
      'google_project_iam_policy.p',
      {},
      {
        refers: { policy_data: ['data.google_iam_policy.p.policy_data', 'data.google_iam_policy.p'] },
      },
    ),
  ],
  ['a role of our own is allowed', 'allow', member('projects/p/roles/owner')],
  [
    'taking a role away is allowed',
    'allow',
    {
      resources: [
        {
          address: 'google_project_iam_member.m',
          actions: ['delete'],
          after: null,
          before: { role: 'roles/owner' },
        },
      ],
    },
  ],
]);
