import assert from 'node:assert/strict';
import { test } from 'node:test';
import { treeFrom } from '../../../../testing/driver-job.ts';
import { hasComputedSource, hashReadByInit, hasSetting } from './read-by-init.ts';

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
  hashReadByInit(treeFrom({ ...files, ...changes }), folders);

for (const [what, from, to] of [
  ['the value of an argument', '"small"', '"large"'],
  ['a comment', '  size   = 1', '  size = 1 # one'],
  ['an argument of a module', 'size   = 1', 'size   = 2'],
  ['a default', 'default = 1', 'default = 2'],
  ['another name of a resource', '"web"', '"site"'],
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
    ['live/more.tf.json', '{}'],
    ['live/net/more.tf', 'resource "x" "y" {}\n'],
    ['live/main.tftest.hcl', 'provider "x" {}\n'],
    ['live/tests/main.tftest.hcl', 'provider "x" {}\n'],
  ] as const)
    assert.notEqual(await hashOf({ [name]: text }), before, name);
  assert.notEqual(await hashOf({}, ['live']), before, 'other folders');
});

test('a file that is not HCL has no hash', async () => {
  await assert.rejects(hashOf({ 'live/main.tf': 'a {' }));
});

test('only sources of modules count as computed, and only settings of the tool as encryption', () => {
  assert.equal(hasComputedSource('resource "a" "b" {\n  source = var.x\n}\n'), false);
  assert.equal(hasComputedSource('module "a" {\n  source = "./b" # var.x\n}\n'), false);
  assert.equal(hasComputedSource('module "a" {\n  x = { source = var.x }\n  source = "./b"\n}\n'), false);
  for (const source of ['var.x', '"./${var.x}"', '"a" == "b" ? "./a" : "./b"', '<<A\n./a\nA', '"\\u002e/a"'])
    assert.equal(hasComputedSource(`module "a" {\n  source = ${source}\n}\n`), true, source);
  assert.equal(hasSetting('terraform {\n  encryption {}\n}\n', 'encryption'), true);
  assert.equal(hasSetting('resource "a" "b" {\n  encryption = true\n}\n', 'encryption'), false);
});
