/** Resources of SCIM, as they are kept and as they are sent. */
import type { UserAttributes } from '../../rows/scim/columns.ts';

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';

export type ResourceType = 'User' | 'Group';

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
export interface ScimResource {
  readonly schemas: readonly string[];
  readonly id: string;
  readonly meta: {
    readonly resourceType: ResourceType;
    readonly created: string;
    readonly lastModified: string;
    readonly location: string;
  };
}

export type UserResource = ScimResource & UserValues;
export type GroupResource = ScimResource & GroupValues;
