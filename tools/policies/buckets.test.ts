import { checkPolicy } from './judge.ts';

const one = (address: string, after: object, more: object = {}) => ({
  resources: [{ address, after: { ...after }, ...more }],
});
const allowing = (statement: object) =>
  one('aws_s3_bucket_policy.b', {
    policy: JSON.stringify({
      Statement: { Sid: 'read', Effect: 'Allow', Action: 's3:GetObject', ...statement },
    }),
  });
const blocked = {
  block_public_acls: true,
  block_public_policy: true,
  ignore_public_acls: true,
  restrict_public_buckets: true,
};
const block = 'aws_s3_bucket_public_access_block.b';
const gone = (address: string, before: object) => ({
  address,
  actions: ['delete'],
  after: null,
  before: { ...before },
});

checkPolicy('deny-public-s3-buckets', [
  ['a private bucket is allowed', 'allow', one('aws_s3_bucket_acl.b', { acl: 'private' })],
  [
    'a public access list is refused',
    'deny',
    one('module.a.aws_s3_bucket_acl.b', { acl: 'public-read' }),
    /^module\.a\.aws_s3_bucket_acl\.b: acl = "public-read" .* set acl = "private"/,
  ],
  ['every account of AWS is everybody', 'deny', one('aws_s3_bucket.b', { acl: 'authenticated-read' })],
  ['a public object is refused', 'deny', one('aws_s3_object.o', { acl: 'public-read' })],
  [
    'a grant to everybody is refused',
    'deny',
    one('aws_s3_bucket_acl.b', {
      access_control_policy: [
        {
          grant: [
            { permission: 'READ', grantee: [{ uri: 'http://acs.amazonaws.com/groups/global/AllUsers' }] },
          ],
        },
      ],
    }),
  ],
  [
    'a grant in the bucket itself is refused',
    'deny',
    one('aws_s3_bucket.b', {
      grant: [{ uri: 'http://acs.amazonaws.com/groups/global/AuthenticatedUsers', permissions: ['READ'] }],
    }),
  ],
  ['a complete block is allowed', 'allow', one(block, blocked)],
  [
    'a block with a hole is refused',
    'deny',
    one(block, { ...blocked, ignore_public_acls: false }),
    /ignore_public_acls is not true/,
  ],
  ['a block that leaves a flag out is refused', 'deny', one(block, { ...blocked, block_public_acls: null })],
  [
    'a flag that is known later waits for a person',
    'pending',
    one(
      block,
      {},
      {
        unknown: {
          block_public_acls: true,
          block_public_policy: true,
          ignore_public_acls: true,
          restrict_public_buckets: true,
        },
      },
    ),
  ],
  ['the block of the account is judged', 'deny', one('aws_s3_account_public_access_block.a', {})],
  [
    'an access point with a hole is refused',
    'deny',
    one('aws_s3_access_point.a', {
      public_access_block_configuration: [{ ...blocked, block_public_policy: false }],
    }),
  ],
  [
    'a policy for an account is allowed',
    'allow',
    allowing({ Principal: { AWS: 'arn:aws:iam::111111111111:root' } }),
  ],
  [
    'a policy for everybody is refused',
    'deny',
    allowing({ Principal: '*' }),
    /statement "read" .* for everybody/,
  ],
  [
    'a list that contains everybody is refused',
    'deny',
    allowing({ Principal: { AWS: ['111111111111', '*'] } }),
  ],
  ['everybody but one is everybody', 'deny', allowing({ NotPrincipal: { AWS: '111111111111' } })],
  [
    'a condition on the organization is a restriction',
    'allow',
    allowing({
      Principal: '*',
      Condition: { StringEquals: { 'aws:PrincipalOrgID': 'o-1' } },
    }),
  ],
  [
    'a condition on addresses is a restriction',
    'allow',
    allowing({
      Principal: '*',
      Condition: { IpAddress: { 'aws:SourceIp': ['192.0.2.0/24'] } },
    }),
  ],
  [
    'a condition that everybody meets does not count',
    'deny',
    allowing({
      Principal: '*',
      Condition: { IpAddress: { 'aws:SourceIp': ['192.0.2.0/24', '0.0.0.0/0'] } },
    }),
  ],
  [
    'a condition on the browser does not count',
    'deny',
    allowing({
      Principal: '*',
      Condition: { StringLike: { 'aws:UserAgent': 'mine' } },
    }),
  ],
  [
    'a condition that holds where the key is absent does not count',
    'deny',
    allowing({
      Principal: '*',
      Condition: { StringEqualsIfExists: { 'aws:PrincipalOrgID': 'o-1' } },
    }),
  ],
  [
    'a condition with a wildcard account does not count',
    'deny',
    allowing({
      Principal: '*',
      Condition: { ArnLike: { 'aws:PrincipalArn': 'arn:aws:iam::*:role/reader' } },
    }),
  ],
  ['a statement that denies is allowed', 'allow', allowing({ Principal: '*', Effect: 'Deny' })],
  [
    'one of several statements is enough',
    'deny',
    one('aws_s3_bucket.b', {
      policy: JSON.stringify({
        Statement: [
          { Effect: 'Deny', Principal: '*', Action: 's3:*' },
          { Effect: 'Allow', Principal: { AWS: '*' }, Action: 's3:GetObject' },
        ],
      }),
    }),
  ],
  [
    'a policy that is known later waits for a person',
    'pending',
    one(
      'aws_s3_bucket_policy.b',
      {},
      {
        refers: { policy: ['data.aws_iam_policy_document.d.json', 'data.aws_iam_policy_document.d'] },
      },
    ),
  ],
  [
    'removing the block of a bucket that stays waits for a person',
    'pending',
    {
      resources: [gone(block, { bucket: 'b' })],
    },
    /is removed, and its bucket stays/,
  ],
  [
    'removing both is allowed',
    'allow',
    {
      resources: [gone(block, { bucket: 'b' }), gone('aws_s3_bucket.b', { bucket: 'b' })],
    },
  ],
]);

const encryption = 'aws_s3_bucket_server_side_encryption_configuration.e';
const ruleOf = (algorithm: string) => [
  { apply_server_side_encryption_by_default: [{ sse_algorithm: algorithm }] },
];
const bucket = { address: 'aws_s3_bucket.b', after: { bucket: 'b' } };
const toBucket = { bucket: ['aws_s3_bucket.b.id', 'aws_s3_bucket.b'] };

checkPolicy('s3-server-side-encryption', [
  [
    'a bucket with a configuration by its name is allowed',
    'allow',
    {
      resources: [bucket, { address: encryption, after: { bucket: 'b', rule: ruleOf('AES256') } }],
    },
  ],
  [
    'a bucket with a configuration by a reference is allowed',
    'allow',
    {
      resources: [
        { address: 'module.s.aws_s3_bucket.b', after: {}, unset: ['bucket'] },
        { address: `module.s.${encryption}`, after: { rule: ruleOf('aws:kms') }, refers: toBucket },
      ],
    },
  ],
  [
    'a configuration that exists already counts',
    'allow',
    {
      resources: [
        { ...bucket, actions: ['update'] },
        { address: encryption, actions: ['no-op'], after: { bucket: 'b', rule: ruleOf('AES256') } },
      ],
    },
  ],
  [
    'a bucket without one is refused',
    'deny',
    { resources: [bucket] },
    /^aws_s3_bucket\.b: the bucket has no rule/,
  ],
  [
    'the configuration of another bucket does not count',
    'deny',
    {
      resources: [bucket, { address: encryption, after: { bucket: 'other', rule: ruleOf('AES256') } }],
    },
  ],
  [
    'one of several buckets is refused',
    'deny',
    {
      resources: [
        { address: 'aws_s3_bucket.b', index: 'x', after: {}, unset: ['bucket'] },
        { address: 'aws_s3_bucket.b', index: 'y', after: {}, unset: ['bucket'] },
        { address: encryption, index: 'x', after: { rule: ruleOf('AES256') }, refers: toBucket },
      ],
    },
    /b\["y"\]/,
  ],
  [
    'the block of older code counts',
    'allow',
    {
      resources: [
        { ...bucket, after: { server_side_encryption_configuration: [{ rule: ruleOf('AES256') }] } },
      ],
    },
  ],
  [
    'a module that receives the name waits for a person',
    'pending',
    {
      resources: [
        bucket,
        {
          address: `module.e.${encryption}`,
          after: { rule: ruleOf('AES256') },
          refers: { bucket: ['var.bucket'] },
        },
      ],
    },
  ],
  [
    'an algorithm that is not accepted is refused',
    'deny',
    {
      policyConfiguration: { algorithms: ['aws:kms'] },
      resources: [bucket, { address: encryption, after: { bucket: 'b', rule: ruleOf('AES256') } }],
    },
    /sse_algorithm is "AES256"; set one of "aws:kms"/,
  ],
  [
    'a configuration without an algorithm is refused',
    'deny',
    {
      resources: [{ address: encryption, after: { bucket: 'b', rule: [{ bucket_key_enabled: true }] } }],
    },
  ],
  [
    'a key that is known later is allowed',
    'allow',
    {
      resources: [
        bucket,
        {
          address: encryption,
          after: { bucket: 'b', rule: ruleOf('aws:kms') },
          unknown: { rule: [{ apply_server_side_encryption_by_default: [{ kms_master_key_id: true }] }] },
        },
      ],
    },
  ],
  [
    'removing the configuration of a bucket that stays waits for a person',
    'pending',
    {
      resources: [gone(encryption, { bucket: 'b' })],
    },
  ],
  [
    'removing both is allowed',
    'allow',
    {
      resources: [gone(encryption, { bucket: 'b' }), gone('aws_s3_bucket.b', { bucket: 'b' })],
    },
  ],
]);
