import { checkPolicy } from './judge.ts';

const group = (...ingress: object[]) => ({
  resources: [{ address: 'aws_security_group.web', after: { vpc_id: 'vpc-1', ingress } }],
});
const tcp = { protocol: 'tcp', from_port: 22, to_port: 22, cidr_blocks: ['0.0.0.0/0'], ipv6_cidr_blocks: [] };
const rule = (after: object) => ({
  resources: [{ address: 'aws_vpc_security_group_ingress_rule.ssh', after: { ...after } }],
});
const azure = (after: object) => ({
  resources: [
    {
      address: 'azurerm_network_security_rule.ssh',
      after: {
        access: 'Allow',
        direction: 'Inbound',
        protocol: 'Tcp',
        destination_port_range: '22',
        ...after,
      },
    },
  ],
});
const google = (after: object, more: object = {}) => ({
  resources: [
    {
      address: 'google_compute_firewall.ssh',
      after: { direction: 'INGRESS', allow: [{ protocol: 'tcp', ports: ['22'] }], ...after },
      ...more,
    },
  ],
});

checkPolicy('disallow-unrestricted-ssh-ingress', [
  ['a plan without changes is allowed', 'allow', { resources: [] }],
  ['other ports may be open', 'allow', group({ ...tcp, from_port: 443, to_port: 443 })],
  [
    'SSH may be open to named addresses',
    'allow',
    group({ ...tcp, cidr_blocks: ['10.0.0.0/8', '192.0.2.4/32'] }),
  ],
  [
    'SSH that is open to everybody is refused, with the address and the remedy',
    'deny',
    group({ ...tcp, from_port: 443, to_port: 443 }, tcp),
    /^aws_security_group\.web: port 22 is open to 0\.0\.0\.0\/0; name the addresses/,
  ],
  ['a range that contains the port is refused', 'deny', group({ ...tcp, from_port: 0, to_port: 1024 })],
  ['every protocol is refused', 'deny', group({ ...tcp, protocol: '-1', from_port: 0, to_port: 0 })],
  ['the protocol by its number is refused', 'deny', group({ ...tcp, protocol: '6' })],
  ['UDP does not carry SSH', 'allow', group({ ...tcp, protocol: 'udp' })],
  ['IPv6 is refused', 'deny', group({ ...tcp, cidr_blocks: null, ipv6_cidr_blocks: ['::/0'] }), /::\/0/],
  [
    'halves of the internet are refused',
    'deny',
    group({ ...tcp, cidr_blocks: ['0.0.0.0/1', '128.0.0.0/1'] }),
  ],
  ['all global addresses of IPv6 are refused', 'deny', group({ ...tcp, ipv6_cidr_blocks: ['2000::/3'] })],
  [
    'a block that is an object is read',
    'deny',
    {
      resources: [{ address: 'aws_security_group.web', after: { ingress: tcp } }],
    },
  ],
  [
    'a group in a module is refused by its address',
    'deny',
    {
      resources: [
        { address: 'module.net["a.b"].module.in[0].aws_security_group.web', after: { ingress: [tcp] } },
      ],
    },
    /^module\.net\["a\.b"\]\.module\.in\[0\]\.aws_security_group\.web: /,
  ],
  [
    'an update is judged',
    'deny',
    {
      resources: [{ address: 'aws_security_group.web', actions: ['update'], after: { ingress: [tcp] } }],
    },
  ],
  [
    'a replacement is judged',
    'deny',
    {
      resources: [
        { address: 'aws_security_group.web', actions: ['delete', 'create'], after: { ingress: [tcp] } },
      ],
    },
  ],
  [
    'what is left as it is is not judged',
    'allow',
    {
      resources: [{ address: 'aws_security_group.web', actions: ['no-op'], after: { ingress: [tcp] } }],
    },
  ],
  [
    'a delete is allowed',
    'allow',
    {
      resources: [
        { address: 'aws_security_group.web', actions: ['delete'], after: null, before: { ingress: [tcp] } },
      ],
    },
  ],
  [
    'addresses that are known after the deployment wait for a person',
    'pending',
    {
      resources: [
        {
          address: 'aws_security_group.web',
          after: { ingress: [{ protocol: 'tcp', from_port: 22, to_port: 22 }] },
          unknown: { ingress: [{ cidr_blocks: true }] },
        },
      ],
    },
    /does not tell cidr_blocks/,
  ],
  [
    'a person may approve them',
    'allow',
    {
      approvers: 1,
      resources: [
        {
          address: 'aws_security_group.web',
          after: { ingress: [{ protocol: 'tcp', from_port: 22, to_port: 22 }] },
          unknown: { ingress: [{ cidr_blocks: true }] },
        },
      ],
    },
  ],
  ['no one may approve what is refused', 'deny', { approvers: 1, ...group(tcp) }],
  [
    'rules that the code leaves to other resources are not waited for',
    'allow',
    {
      resources: [{ address: 'aws_security_group.web', after: { name: 'web' }, unset: ['ingress'] }],
    },
  ],
  [
    'a secret list of addresses waits for a person',
    'pending',
    {
      resources: [
        {
          address: 'aws_security_group.web',
          after: { ingress: [{ ...tcp, cidr_blocks: '(sensitive)' }] },
          sensitive: { ingress: [{ cidr_blocks: true }] },
        },
      ],
    },
  ],
  [
    'a secret that the agent has hidden waits for a person',
    'pending',
    group({ ...tcp, cidr_blocks: ['***'] }),
    /ingress is a secret/,
  ],
  [
    'a rule of its own is refused',
    'deny',
    {
      resources: [{ address: 'aws_security_group_rule.ssh', after: { type: 'ingress', ...tcp } }],
    },
  ],
  [
    'a rule for what leaves is allowed',
    'allow',
    {
      resources: [{ address: 'aws_security_group_rule.out', after: { type: 'egress', ...tcp } }],
    },
  ],
  [
    'the newer rule is refused',
    'deny',
    rule({ ip_protocol: 'tcp', from_port: 20, to_port: 25, cidr_ipv4: '0.0.0.0/0' }),
  ],
  ['the newer rule of all protocols has no ports', 'deny', rule({ ip_protocol: '-1', cidr_ipv6: '::/0' })],
  [
    'the newer rule for another group is allowed',
    'allow',
    rule({
      ip_protocol: 'tcp',
      from_port: 22,
      to_port: 22,
      referenced_security_group_id: 'sg-1',
    }),
  ],
  [
    'a list of prefixes that is the internet is refused',
    'deny',
    {
      resources: [{ address: 'aws_ec2_managed_prefix_list.all', after: { entry: [{ cidr: '0.0.0.0/0' }] } }],
    },
  ],
  ['Azure: any source is refused', 'deny', azure({ source_address_prefix: '*' })],
  ['Azure: the tag Internet is refused', 'deny', azure({ source_address_prefixes: ['Internet'] })],
  [
    'Azure: a range of ports is refused',
    'deny',
    azure({
      source_address_prefix: '0.0.0.0/0',
      destination_port_range: null,
      destination_port_ranges: ['80', '20-30'],
    }),
  ],
  [
    'Azure: every port is refused',
    'deny',
    azure({ source_address_prefix: 'any', destination_port_range: '*' }),
  ],
  ['Azure: a rule that denies is allowed', 'allow', azure({ source_address_prefix: '*', access: 'Deny' })],
  [
    'Azure: a rule inside of its group is refused',
    'deny',
    {
      resources: [
        {
          address: 'azurerm_network_security_group.web',
          after: {
            security_rule: [
              {
                access: 'Allow',
                direction: 'Inbound',
                protocol: '*',
                destination_port_range: '22',
                source_address_prefix: '*',
              },
            ],
          },
        },
      ],
    },
  ],
  ['Google: everybody is refused', 'deny', google({ source_ranges: ['0.0.0.0/0'] })],
  ['Google: no source at all is everybody', 'deny', google({})],
  [
    'Google: a source that the provider fills in is everybody',
    'deny',
    google({}, { unset: ['source_ranges'] }),
  ],
  ['Google: tags as sources are allowed', 'allow', google({ source_tags: ['bastion'] })],
  [
    'Google: no ports are all ports',
    'deny',
    google({ allow: [{ protocol: 'tcp' }], source_ranges: ['::/0'] }),
  ],
  ['Google: a rule that is turned off is allowed', 'allow', google({ disabled: true })],
  [
    'other ports can be configured',
    'deny',
    {
      policyConfiguration: { ports: [3389] },
      ...group({ ...tcp, from_port: 3389, to_port: 3389 }),
    },
    /port 3389/,
  ],
  [
    'a compliant plan can wait for a person',
    'pending',
    {
      policyConfiguration: { requireApproval: true },
      ...group({ ...tcp, cidr_blocks: ['10.0.0.0/8'] }),
    },
  ],
  ['a plan of another tool waits for a person', 'pending', { input: { plan: {} } }],
]);
