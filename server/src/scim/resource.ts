/** Resources of SCIM, as they are kept and as they are sent. */

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';

export type ResourceType = 'User' | 'Group';

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

/** What a provider says about a person and the service has no other place for. */
export interface UserAttributes {
  readonly name?: PersonName;
  readonly displayName?: string;
  readonly emails?: readonly Email[];
}

export interface UserValues extends UserAttributes {
  readonly userName: string;
  readonly externalId?: string;
  readonly active: boolean;
}

export interface GroupMember {
  readonly value: string;
}

export interface GroupValues {
  readonly displayName: string;
  readonly externalId?: string;
  readonly members: readonly GroupMember[];
}

/** Of either type, as it is sent. */
export interface Resource {
  readonly schemas: readonly string[];
  readonly id: string;
  readonly meta: {
    readonly resourceType: ResourceType;
    readonly created: string;
    readonly lastModified: string;
    readonly location: string;
  };
}

export type UserResource = Resource & UserValues;
export type GroupResource = Resource & GroupValues;
