// Package datafolder manages the data folder of a service: its owner, lock, secret files and master key.
package datafolder

// Folders in the data folder. A backup contains StoreDir and BlobsDir.
const (
	StoreDir = "store"
	BlobsDir = "blobs" // recordings and exports
	SpoolDir = "spool" // recordings that are not stored yet; in a blob store the name takes the place of a workspace id
)
