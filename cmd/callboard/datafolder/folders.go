// Package datafolder holds the layout of a service's data folder: its owner, its lock,
// its secret files and the master key.
package datafolder

// Folders of the data folder; a backup has the first two as well.
const (
	StoreDir = "store"
	BlobsDir = "blobs" // recordings and exports
	SpoolDir = "spool" // recordings that are not stored yet; in a blob store this name stands in place of a workspace
)
