-- The id in the file that marks the folder of the blobs: every server has to have the same folder.
alter table installation add column blob_folder_id uuid;
