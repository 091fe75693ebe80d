import { type Case, checkPolicy } from './judge.ts';

const listener = (after: object, more: object = {}) => ({
  address: 'aws_lb_listener.web',
  after: { ...after },
  ...more,
});
const toHttps = [
  { type: 'redirect', redirect: [{ protocol: 'HTTPS', port: '443', status_code: 'HTTP_301' }] },
];
const forward = [{ type: 'forward', target_group_arn: 'arn:1' }];
const https = { protocol: 'HTTPS', port: 443, default_action: forward };
const http = { protocol: 'HTTP', port: 80, default_action: toHttps };
const arn = ['aws_lb_listener.web.arn', 'aws_lb_listener.web'];

checkPolicy('alb-secure-tls', [
  [
    'HTTPS with TLS 1.2 is allowed',
    'allow',
    {
      resources: [listener({ ...https, ssl_policy: 'ELBSecurityPolicy-TLS13-1-2-2021-06' })],
    },
  ],
  ['HTTP that redirects to HTTPS is allowed', 'allow', { resources: [listener(http)] }],
  [
    'HTTP that forwards is refused',
    'deny',
    { resources: [listener({ ...http, default_action: forward })] },
    /plain HTTP/,
  ],
  [
    'a redirect to HTTP is refused',
    'deny',
    {
      resources: [
        listener({
          ...http,
          default_action: [{ type: 'redirect', redirect: [{ protocol: '#{protocol}' }] }],
        }),
      ],
    },
  ],
  [
    'a rule that forwards from an HTTP listener is refused',
    'deny',
    {
      resources: [
        listener(http, { unknown: { arn: true } }),
        { address: 'aws_lb_listener_rule.api', after: { action: forward }, refers: { listener_arn: arn } },
      ],
    },
    /^aws_lb_listener_rule\.api: .* because aws_lb_listener\.web is an HTTP listener/,
  ],
  [
    'a rule of an existing HTTP listener is refused',
    'deny',
    {
      resources: [
        listener({ ...http, arn: 'arn:l' }, { actions: ['no-op'] }),
        { address: 'aws_lb_listener_rule.api', after: { action: forward, listener_arn: 'arn:l' } },
      ],
    },
  ],
  [
    'a rule of an HTTPS listener is allowed',
    'allow',
    {
      resources: [
        listener({ ...https, ssl_policy: 'ELBSecurityPolicy-TLS-1-2-2017-01' }),
        { address: 'aws_lb_listener_rule.api', after: { action: forward }, refers: { listener_arn: arn } },
      ],
    },
  ],
  [
    'old ciphers are refused',
    'deny',
    {
      resources: [listener({ ...https, ssl_policy: 'ELBSecurityPolicy-2016-08' })],
    },
    /accepts TLS versions before 1\.2/,
  ],
  [
    'TLS 1.1 with a name of 1.3 is refused',
    'deny',
    {
      resources: [listener({ ...https, ssl_policy: 'ELBSecurityPolicy-TLS13-1-1-2021-06' })],
    },
  ],
  [
    'a listener that leaves the ciphers to AWS is refused',
    'deny',
    {
      resources: [listener(https, { unset: ['ssl_policy'] })],
    },
  ],
  [
    'ciphers that are known later wait for a person',
    'pending',
    {
      resources: [
        listener(https, { refers: { ssl_policy: ['aws_ssm_parameter.p.value', 'aws_ssm_parameter.p'] } }),
      ],
    },
  ],
  [
    'further names can be configured',
    'allow',
    {
      policyConfiguration: { securityPolicies: ['Own-2030'] },
      resources: [listener({ ...https, ssl_policy: 'Own-2030' })],
    },
  ],
  [
    'the older name of the type is judged',
    'deny',
    {
      resources: [{ address: 'aws_alb_listener.web', after: { ...http, default_action: forward } }],
    },
  ],
]);

const made = (address: string, after: object, unset: string[] = []) => ({
  resources: [{ address, after: { ...after }, unset }],
});

checkPolicy('prohibit-default-vpc', [
  ['an instance in a subnet is allowed', 'allow', made('aws_instance.web', { subnet_id: 'subnet-1' })],
  [
    'a subnet of the same deployment is allowed',
    'allow',
    {
      resources: [
        { address: 'aws_instance.web', refers: { subnet_id: ['aws_subnet.a.id', 'aws_subnet.a'] } },
      ],
    },
  ],
  [
    'an instance without a subnet is refused',
    'deny',
    made('aws_instance.web', {}, ['subnet_id']),
    /set subnet_id/,
  ],
  ['a group without a VPC is refused', 'deny', made('aws_security_group.web', { name: 'web' }, ['vpc_id'])],
  [
    'a module cannot hide it',
    'deny',
    made('module.a[0].aws_security_group.web', {}, ['vpc_id']),
    /^module\.a\[0\]/,
  ],
  ['a database without subnets is refused', 'deny', made('aws_db_instance.db', {}, ['db_subnet_group_name'])],
  ['taking over the default VPC is refused', 'deny', made('aws_default_vpc.it', {})],
  [
    'looking up the default VPC is refused',
    'deny',
    {
      resources: [{ address: 'data.aws_vpc.it', after: { default: true }, mode: 'data' }],
    },
    /^data\.aws_vpc\.it: /,
  ],
  [
    'looking it up by a filter is refused',
    'deny',
    {
      resources: [
        {
          address: 'module.net.data.aws_vpc.it',
          after: { filter: [{ name: 'isDefault', values: ['true'] }] },
          mode: 'data',
        },
      ],
    },
  ],
  [
    'looking up a VPC by its id is allowed',
    'allow',
    {
      resources: [{ address: 'data.aws_vpc.it', after: { id: 'vpc-1' }, mode: 'data' }],
    },
  ],
  [
    'an existing instance may be changed',
    'allow',
    {
      resources: [{ address: 'aws_instance.web', actions: ['update'], after: { subnet_id: 'subnet-1' } }],
    },
  ],
  [
    'the default VPC may be left',
    'allow',
    {
      resources: [{ address: 'aws_default_vpc.it', actions: ['forget'], after: null, before: {} }],
    },
  ],
] satisfies Case[]);
