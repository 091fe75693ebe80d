import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '#contract/client/client.ts';
import { terminalStatuses } from '#contract/life-cycle/life-cycle.ts';
import { deploymentStatuses } from '#contract/schema/enumerations.ts';
import { BadCall, exitCodeOfError, exitCodeOfStatus } from './exit-codes.ts';

describe('exit codes', () => {
  it('exit codes are 1 for every result except success, and 3 while a plan waits for approval', () => {
    const failed = deploymentStatuses.filter((status) => exitCodeOfStatus(status) === 1);
    assert.deepEqual(
      failed.toSorted(),
      terminalStatuses.filter((status) => status !== 'SUCCESS' && status !== 'NEVER_DEPLOYED').toSorted(),
    );
    assert.equal(exitCodeOfStatus('SUCCESS'), 0);
    assert.equal(exitCodeOfStatus('WAITING_FOR_USER'), 3);
  });

  it('exit codes are 2 for a wrong call, a refusal and an unreachable service, and 1 if the service fails', () => {
    const refusal = (status: number, code: ApiError['code']) => new ApiError(status, { code, message: '' });
    assert.equal(exitCodeOfError(new BadCall('')), 2);
    assert.equal(exitCodeOfError(refusal(409, 'conflict')), 2);
    assert.equal(exitCodeOfError(refusal(0, 'unreachable')), 2);
    assert.equal(exitCodeOfError(refusal(500, 'internal')), 1);
    assert.equal(exitCodeOfError(new TypeError('a defect')), 1);
  });
});
