/** JSON types of columns. */

export interface Columns {
  'scim_user.attributes': UserAttributes;
}

export interface PersonName {
  readonly formatted?: string;
  readonly givenName?: string;
  readonly familyName?: string;
}

export interface Email {
  readonly value: string;
  readonly type?: string;
  readonly primary?: boolean;
}

/** Attributes of a person from a provider that the service has no other place for. */
export interface UserAttributes {
  readonly name?: PersonName;
  readonly displayName?: string;
  readonly emails?: readonly Email[];
}
