import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filtersOf, pageNumber, queryOf, wordsOf } from './list-query.ts';

const now = Date.parse('2026-03-01T12:20:00Z');

test('without filters the list is the first page of what is not archived', () => {
  const { excludeFields, ...query } = queryOf('o', {}, now);
  assert.match(String(excludeFields), /latestDeploymentLog\.plan/);
  assert.deepEqual(query, { organizationId: 'o', limit: 100, offset: 0, isActive: true });
});

test('every filter of the address reaches the service', () => {
  const search = {
    search: 'web',
    project: 'p',
    status: 'FAILED,TIMEOUT',
    drift: 'DRIFTED',
    type: 'helm',
    tag: 'blue',
    mine: 'yes',
    archived: 'only',
    expires: 'day',
    sort: '-name',
    page: '3',
  };
  const { excludeFields: _, ...query } = queryOf('o', search, now);
  assert.deepEqual(query, {
    organizationId: 'o',
    limit: 100,
    offset: 200,
    isActive: false,
    onlyMy: true,
    searchText: 'web',
    projectId: 'p',
    status: 'FAILED,TIMEOUT',
    driftStatus: 'DRIFTED',
    templateType: 'helm',
    tag: 'blue',
    sort: '-name',
    expiresBefore: '2026-03-02T13:00:00.000Z',
  });
});

test('archived ones come along with the others when the address says so', () => {
  assert.equal('isActive' in queryOf('o', { archived: 'all' }, now), false);
});

test('an address with a page that cannot be is that of the first page', () => {
  for (const page of ['0', '-1', '1.5', 'x', '9'.repeat(30)]) assert.equal(pageNumber({ page }), 1, page);
});

test('a view keeps the filters and leaves out the page', () => {
  assert.deepEqual(filtersOf({ status: 'FAILED', page: '2', other: 'x' }), { status: 'FAILED' });
});

test('the command line gets the filters that it has', () => {
  const search = { search: 'web', tag: 'blue', mine: 'yes', archived: 'only', status: 'FAILED' };
  const words = 'environment list --search web --tag blue --status FAILED --mine --archived';
  assert.equal(wordsOf(search).join(' '), words);
});
