/** Name and description of an agent. */
import { Textarea } from '@mantine/core';
import { NameField } from '../../forms/NameFields.tsx';
import { validateName } from '../../forms/validate-name.ts';
import { Part } from '../../records/Part.tsx';
import { RecordForm } from '../../records/RecordForm.tsx';
import { concernedReads, type ListedAgent } from './agent-words.ts';

const valuesOf = ({ name = '', description = '' }: ListedAgent) => ({ name, description });

export interface AgentSettingsProps {
  readonly agent: ListedAgent;
  readonly whyNot: string | undefined;
}

export function AgentSettings({ agent, whyNot }: AgentSettingsProps) {
  const { agentKey } = agent;
  return (
    <Part title="Settings">
      <RecordForm
        // Without a tag: each heartbeat of the agent makes another version.
        record={{ data: agent, etag: undefined }}
        valuesOf={valuesOf}
        validate={{ name: validateName }}
        operation="updateAgent"
        refreshes={concernedReads}
        inputOf={(body) => ({ params: { agentKey }, body })}
        done="The agent was changed"
        whyNot={whyNot}
      >
        {(form) => (
          <>
            <NameField {...form.getInputProps('name')} />
            <Textarea label="What for" autosize minRows={2} {...form.getInputProps('description')} />
          </>
        )}
      </RecordForm>
    </Part>
  );
}
