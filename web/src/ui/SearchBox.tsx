/** Search box of a list: the list follows the typing, and the key `/` leads here. */
import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { searchBoxMark } from './search-box-mark.ts';

const typingMilliseconds = 250;

export interface SearchBoxProps {
  readonly label: string;
  /** Text for which the list is shown. */
  readonly value: string | undefined;
  /** @param text undefined: everything */
  readonly onSearch: (text: string | undefined) => void;
}

export function SearchBox({ label, value = '', onSearch }: SearchBoxProps) {
  const [typed, setTyped] = useState<string>();
  const send = (text: string) => onSearch(text.trim() === '' ? undefined : text.trim());
  const sendSoon = useDebouncedCallback(send, { delay: typingMilliseconds, flushOnUnmount: false });
  return (
    <TextInput
      {...searchBoxMark}
      type="search"
      aria-label={label}
      placeholder={label}
      value={typed ?? value}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        sendSoon(currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') send(event.currentTarget.value);
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
      onBlur={() => {
        sendSoon.flush();
        setTyped(undefined);
      }}
    />
  );
}
