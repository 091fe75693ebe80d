-- Who got an e-mail that others are still to get; null: nobody so far.
alter table notification_delivery add column delivered_to text[];
