/** Description and tags of an environment; both can be edited in place. */
import { Badge, Button, Group, TagsInput, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useChange, useRead } from '../../../api/queries.ts';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { useQuestionBeforeLeaving } from '../../../forms/use-question-before-leaving.ts';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import classes from '../facts/environment.module.css';
import { type EnvironmentProps, environmentReads } from '../facts/reads.ts';

function Editor({ environment, onEnd }: EnvironmentProps & { readonly onEnd: () => void }) {
  const { id, projectId } = environment;
  const [began] = useState({ description: environment.description ?? '', tags: environment.tags });
  const [description, setDescription] = useState(began.description);
  const [tags, setTags] = useState([...began.tags]);
  // Changes by only the other user stay.
  const changes = {
    ...(description === began.description ? {} : { description }),
    ...(tags.join() === began.tags.join() ? {} : { tags }),
  };
  const { data: known = [] } = useRead('listEnvironmentTags', { query: { projectId } });
  const save = useChange('updateEnvironment', {
    refreshes: [...environmentReads, 'listEnvironmentTags'],
    onSuccess: onEnd,
    onError: () => true,
  });
  const isTouched = Object.keys(changes).length > 0;
  useQuestionBeforeLeaving(isTouched ? 'Leave without saving the description and the tags?' : undefined);
  return (
    <form
      className={classes.dialog}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isTouched) onEnd();
        else save.mutate({ params: { id }, body: changes });
      }}
    >
      <FormAlert error={save.error} />
      <Textarea
        label="Description"
        autosize
        data-autofocus
        value={description}
        onChange={({ currentTarget }) => setDescription(currentTarget.value)}
      />
      <TagsInput label="Tags" data={known} value={tags} onChange={setTags} maxTags={50} />
      <Group gap="xs">
        <Button type="submit" size="xs" loading={save.isPending}>
          Save
        </Button>
        <Button size="xs" variant="default" onClick={onEnd}>
          Cancel
        </Button>
      </Group>
    </form>
  );
}

export function Description(props: EnvironmentProps) {
  const { environment, rights } = props;
  const { description, tags } = environment;
  const [isEdited, setIsEdited] = useState(false);
  return (
    <section className={classes.section} aria-label="About">
      <div className={classes.head}>
        <h2>About</h2>
        {!isEdited && (
          <ActionButton
            size="compact-xs"
            variant="subtle"
            whyNot={rights.whyNot('EDIT_ENVIRONMENT_SETTINGS')}
            onClick={() => setIsEdited(true)}
          >
            Edit
          </ActionButton>
        )}
      </div>
      {isEdited ? (
        <Editor {...props} onEnd={() => setIsEdited(false)} />
      ) : (
        <>
          <p className={classes.description} dir="auto">
            {description || <span className={classes.faint}>No description.</span>}
          </p>
          <Group gap={4}>
            {tags.map((tag) => (
              <Badge key={tag} variant="default" className={classes.tag!}>
                <bdi>{tag}</bdi>
              </Badge>
            ))}
          </Group>
        </>
      )}
    </section>
  );
}
