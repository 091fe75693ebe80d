/** Confirmations before a deployment is refused, aborted or released. */
import { Textarea } from '@mantine/core';
import { useState } from 'react';
import { Question } from './Question.tsx';
import type { DecisionProps } from './use-decisions.ts';

export function RefuseDialog({ deployment, decisions }: DecisionProps) {
  const isQueued = deployment.status === 'QUEUED';
  const [comment, setComment] = useState('');
  return (
    <Question
      title={isQueued ? 'Cancel this deployment?' : 'Refuse this plan?'}
      no="Keep it"
      verb={isQueued ? 'Cancel the deployment' : 'Refuse'}
      isDanger
      decisions={decisions}
      onConfirm={() => decisions.cancel(comment)}
    >
      <p>
        {isQueued
          ? 'It leaves the queue without starting.'
          : 'Nothing is applied. The next deployment in the queue starts.'}
      </p>
      <Textarea
        label="Why"
        description="It is stored with the decision, for those who requested the deployment."
        autosize
        maxLength={4000}
        value={comment}
        onChange={(event) => setComment(event.currentTarget.value)}
      />
    </Question>
  );
}

export function AbortDialog({ decisions }: DecisionProps) {
  return (
    <Question
      title="Abort this deployment?"
      no="Let it run"
      verb="Abort"
      isDanger
      decisions={decisions}
      onConfirm={() => decisions.abort()}
    >
      <p>
        The tool is interrupted and may finish its current work. If it does not stop in time, it is killed.
        Its state is kept.
      </p>
      <p>Unfinished changes stay unfinished: deploy again to continue.</p>
    </Question>
  );
}

export function ReleaseDialog({ decisions }: DecisionProps) {
  const [reason, setReason] = useState('');
  return (
    <Question
      title="Release this deployment?"
      no="Keep waiting"
      verb="Release"
      isDanger
      isReady={reason.trim() !== ''}
      decisions={decisions}
      onConfirm={() => decisions.release(reason.trim())}
    >
      <p>
        The environment is released although its agent has not reported the end of the tool. Do this only when
        you are certain: two tools on one state damage it.
      </p>
      <Textarea
        label="How you know that the run has ended"
        description="It is kept with the deployment and in the audit trail."
        required
        autosize
        minRows={2}
        maxLength={4000}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </Question>
  );
}
