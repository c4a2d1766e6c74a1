// Package quarantine lists what may have happened since the backup that a store was restored from, and releases the store.
package quarantine
