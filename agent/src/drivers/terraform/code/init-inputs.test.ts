import assert from 'node:assert/strict';
import { test } from 'node:test';
import { treeFrom } from '../../../../testing/driver-job.ts';
import { hasComputedSource, hashInitInputs } from './init-inputs.ts';

const main = `terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}
variable "size" { default = 1 }
provider "aws" { region = "x" }
resource "aws_instance" "web" {
  provider = aws.west
  type     = "small"
}
module "net" {
  source = "./net"
  size   = 1
}
`;
const files = {
  'live/main.tf': main,
  'live/net/main.tf': 'output "x" { value = 1 }\n',
  'live/README.md': '',
};
const hashOf = async (changes: Readonly<Record<string, string>> = {}, folders = ['live', 'live/net']) =>
  hashInitInputs(treeFrom({ ...files, ...changes }), folders);

for (const [what, from, to] of [
  ['the value of an argument', '"small"', '"large"'],
  ['a comment', '  size   = 1', '  size = 1 # one'],
  ['an argument of a module', 'size   = 1', 'size   = 2'],
  ['a default', 'default = 1', 'default = 2'],
  ['another name of a resource', '"web"', '"site"'],
  [
    'another resource of the same type',
    'variable "size"',
    'resource "aws_instance" "b" { provider = aws.west }\nvariable "size"',
  ],
  ['a further variable', 'variable "size"', 'variable "more" {}\nvariable "size"'],
  ['a further output', 'variable "size"', 'output "more" { value = 1 }\nvariable "size"'],
] as const)
  test(`init does not act on ${what}`, async () => {
    assert.notEqual(main.replace(from, to), main);
    assert.equal(await hashOf({ 'live/main.tf': main.replace(from, to) }), await hashOf());
  });

for (const [what, from, to] of [
  ['the source of a provider', 'hashicorp/aws', 'acme/aws'],
  ['the type of a resource', '"aws_instance"', '"google_instance"'],
  ['the provider of a resource', 'aws.west', 'aws.east'],
  ['a further type of resources', 'variable "size"', 'data "google_x" "y" {}\nvariable "size"'],
  ['settings of a provider', 'region = "x"', 'version = "1"'],
  ['the source of a module', '"./net"', '"./other"'],
  ['the providers of a module', 'size   = 1', 'providers = { aws = aws.west }'],
  ['a further module', 'variable "size"', 'module "b" {\n  source = "./net"\n}\nvariable "size"'],
  ['a check, which may have data', 'variable "size"', 'check "c" {}\nvariable "size"'],
  ['a block that is not known', 'variable "size"', 'new "x" {}\nvariable "size"'],
] as const)
  test(`init acts on ${what}`, async () => {
    assert.notEqual(main.replace(from, to), main);
    assert.notEqual(await hashOf({ 'live/main.tf': main.replace(from, to) }), await hashOf());
  });

test('init acts on files of all module folders and of tests, and not on others', async () => {
  const before = await hashOf();
  for (const [name, text] of [
    ['live/README.md', 'changed'],
    ['live/prod.auto.tfvars', 'size = 2\n'],
    ['live/x.auto.tfvars.json', '{}'],
    ['live/.terraform.lock.hcl', 'provider "x" {}\n'],
    ['live/package.json', '{}'],
    ['live/files/main.tf', 'provider "x" {}\n'],
    ['other/main.tf', 'provider "x" {}\n'],
  ] as const)
    assert.equal(await hashOf({ [name]: text }), before, name);
  for (const [name, text] of [
    ['live/more.tf', 'provider "x" {}\n'],
    ['live/more.tofu', ''],
    ['live/more\n.tf', ''],
    ['live/more.tf.json', '{}'],
    ['live/net/more.tf', 'resource "x" "y" {}\n'],
    ['live/main.tftest.hcl', 'provider "x" {}\n'],
    ['live/tests/main.tftest.hcl', 'provider "x" {}\n'],
  ] as const)
    assert.notEqual(await hashOf({ [name]: text }), before, name);
  assert.notEqual(await hashOf({}, ['live']), before, 'other folders');
});

test('a file that is not HCL has no hash, nor one that cannot be read, or too many', async () => {
  await assert.rejects(hashOf({ 'live/main.tf': 'a {' }));
  const code = treeFrom(files);
  const unreadable = { ...code, list: async () => ['caf\uFFFD.tf'] };
  await assert.rejects(hashInitInputs(unreadable, ['live']), /cannot be read/);
  const many = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`live/${n}.tf`, '']));
  await assert.rejects(hashOf(many), /more than 2000 files/);
  const large = Object.fromEntries([1, 2].map((n) => [`live/${n}.tf`, ' '.repeat(6_000_000)]));
  await assert.rejects(hashOf(large), /more than 10000000 characters/);
});

test('with override files, the names of resources matter, too', async () => {
  const override = { 'live/a_override.tf': 'resource "aws_instance" "web" {\n  provider = aws.east\n}\n' };
  const inJson = {
    'live/a_override.tf.json': '{"resource": {"aws_instance": {"web": {"provider": "aws.east"}}}}',
  };
  const settings = { 'live/a_override.tf.json': '{"terraform": {"backend": {"local": {}}}}' };
  const site = { 'live/main.tf': main.replace('"web"', '"site"') };
  assert.notEqual(await hashOf({ ...inJson, ...site }), await hashOf(inJson));
  assert.equal(
    await hashOf({ ...settings, ...site }),
    await hashOf(settings),
    'nothing is merged with resources',
  );
  const renamed = { ...override, 'live/main.tf': main.replace('"web"', '"site"') };
  assert.notEqual(await hashOf(renamed), await hashOf(override));
});

test('only sources of modules count as computed', () => {
  assert.equal(hasComputedSource('resource "a" "b" {\n  source = var.x\n}\n'), false);
  assert.equal(hasComputedSource('module "a" {\n  source = "./b" # var.x\n}\n'), false);
  assert.equal(hasComputedSource('module "a" {\n  x = { source = var.x }\n  source = "./b"\n}\n'), false);
  for (const source of ['var.x', '"./${var.x}"', '"a" == "b" ? "./a" : "./b"', '<<A\n./a\nA', '"\\u002e/a"'])
    assert.equal(hasComputedSource(`module "a" {\n  source = ${source}\n}\n`), true, source);
});
