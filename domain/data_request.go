package domain

import "time"

// DataRequestType is the kind of a data subject request.
type DataRequestType string

// The types of data requests.
const (
	DataExport DataRequestType = "export"
	DataErase  DataRequestType = "erase"
)

// Values returns the types of a data request.
func (DataRequestType) Values() []string { return values(DataExport, DataErase) }

// DataRequestStatus is the state of a data subject request.
type DataRequestStatus string

// The states of a data subject request. A completed export expires with its file.
const (
	DataQueued    DataRequestStatus = "queued"
	DataRunning   DataRequestStatus = "running"
	DataWaiting   DataRequestStatus = "waiting" // for the live calls and unsent messages in WaitingFor
	DataCompleted DataRequestStatus = "completed"
	DataExpired   DataRequestStatus = "expired"
)

// Values returns the states of a data request.
func (DataRequestStatus) Values() []string {
	return values(DataQueued, DataRunning, DataWaiting, DataCompleted, DataExpired)
}

// ResourceRef identifies a resource in DataRequest.Remaining by ID and kind.
type ResourceRef struct {
	ID     string `json:"id" doc:"The id of the resource."`
	Object string `json:"object" doc:"The type of the resource, as in its field object."`
}

// DataRequest exports or erases the data of one person, whom a phone number identifies. The number is encrypted at
// rest. It is deleted when an erasure ends or the file of an export expires. Its keyed hash remains.
type DataRequest struct {
	Meta
	Type        DataRequestType   `json:"type"`
	Phone       string            `json:"phone,omitempty"`
	PhoneHash   string            `json:"phone_hash"`
	Status      DataRequestStatus `json:"status"`
	WaitingFor  []ResourceRef     `json:"waiting_for"`
	Counts      map[string]int    `json:"counts"`    // number of exported, deleted or erased resources by kind
	Remaining   []ResourceRef     `json:"remaining"` // workspace settings that still contain the number
	Size        int64             `json:"size"`      // size of the file in bytes
	DownloadURL string            `json:"download_url,omitempty"`
	CompletedAt *time.Time        `json:"completed_at"`
	ExpiresAt   *time.Time        `json:"expires_at"`
	// Done lists the completed processing steps. A process that continues the request after a restart skips them.
	Done        []string `json:"done,omitempty" hidden:"true"`
	SealedPhone string   `json:"sealed_phone,omitempty" hidden:"true"`
}

// DataRequestLifetime is how long the file of an export is stored.
const DataRequestLifetime = 7 * 24 * time.Hour

// File returns the name of the export file in the workspace's blob store.
func (r *DataRequest) File() string { return r.ID + ".zip" }

// Key returns the key of the data request in the store.
func (r *DataRequest) Key() Key { return Key{"data_request", r.WorkspaceID, r.ID} }

// Indexes returns the indexes by environment, by stage and by the hash of the phone number. The stage is "open" until
// the request is completed, "kept" while its export file exists, and "over" afterwards.
func (r *DataRequest) Indexes() []string {
	stage := "open"
	switch {
	case r.Status == DataCompleted && r.Type == DataExport:
		stage = "kept"
	case r.Status == DataCompleted, r.Status == DataExpired:
		stage = "over"
	}
	return []string{envIndex(r.Environment), stage, "hash=" + r.PhoneHash}
}

// Sort returns the ID, which sorts by creation time.
func (r *DataRequest) Sort() string { return r.ID }

// Sealed returns a copy whose phone number is encrypted by f.
func (r *DataRequest) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *r
	c.Phone = ""
	if r.Phone == "" {
		return &c, nil
	}
	var err error
	c.SealedPhone, err = f("phone", r.Phone)
	return &c, err
}

// Unseal decrypts the phone number with f.
func (r *DataRequest) Unseal(f func(field, text string) (string, error)) (err error) {
	if r.SealedPhone == "" {
		return nil
	}
	r.Phone, err = f("phone", r.SealedPhone)
	r.SealedPhone = ""
	return err
}

// Public returns a copy with the fields that the API shows.
func (r *DataRequest) Public() *DataRequest {
	c := *r
	c.Done = nil
	if c.WaitingFor == nil {
		c.WaitingFor = []ResourceRef{}
	}
	if c.Remaining == nil {
		c.Remaining = []ResourceRef{}
	}
	if c.Counts == nil {
		c.Counts = map[string]int{}
	}
	return &c
}
