package domain

import "time"

// DataRequestType is what a data request asks for.
type DataRequestType string

// The types of data requests.
const (
	DataExport DataRequestType = "export"
	DataErase  DataRequestType = "erase"
)

// Values are the types of a data request.
func (DataRequestType) Values() []string { return values(DataExport, DataErase) }

// DataRequestStatus is a state of a data request.
type DataRequestStatus string

// The states of a data request. An export that is completed expires with its
// file.
const (
	DataQueued    DataRequestStatus = "queued"
	DataRunning   DataRequestStatus = "running"
	DataWaiting   DataRequestStatus = "waiting" // for what WaitingFor names: live calls, messages on their way
	DataCompleted DataRequestStatus = "completed"
	DataExpired   DataRequestStatus = "expired"
)

// Values are the states of a data request.
func (DataRequestStatus) Values() []string {
	return values(DataQueued, DataRunning, DataWaiting, DataCompleted, DataExpired)
}

// ResourceRef names a resource in a list of others.
type ResourceRef struct {
	ID     string `json:"id" doc:"Its id."`
	Object string `json:"object" doc:"Its type, as in object of the resource itself."`
}

// DataRequest exports or erases what a workspace has of one person, who is known
// by a telephone number. The number is kept sealed, and goes with the end of an
// erasure and with the file of an export: its keyed hash stays.
type DataRequest struct {
	Meta
	Type        DataRequestType   `json:"type"`
	Phone       string            `json:"phone,omitempty"`
	PhoneHash   string            `json:"phone_hash"`
	Status      DataRequestStatus `json:"status"`
	WaitingFor  []ResourceRef     `json:"waiting_for"`
	Counts      map[string]int    `json:"counts"`    // by kind: what was exported, deleted or blanked
	Remaining   []ResourceRef     `json:"remaining"` // settings of the workspace that name the number
	Size        int64             `json:"size"`      // bytes of the file
	DownloadURL string            `json:"download_url,omitempty"`
	CompletedAt *time.Time        `json:"completed_at"`
	ExpiresAt   *time.Time        `json:"expires_at"`
	// Done are the steps that are finished: a process that goes on after another
	// one leaves them out.
	Done        []string `json:"done,omitempty" hidden:"true"`
	SealedPhone string   `json:"sealed_phone,omitempty" hidden:"true"`
}

// DataRequestLife is how long the file of an export is kept.
const DataRequestLifetime = 7 * 24 * time.Hour

// File names the file of an export in the workspace's blobs.
func (r *DataRequest) File() string { return r.ID + ".zip" }

// Key names the row.
func (r *DataRequest) Key() Key { return Key{"data_request", r.WorkspaceID, r.ID} }

// Indexes: by environment; "open" until it is completed, "kept" while it has a
// file, "over" afterwards; by the hash of its number.
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

// Sort is by age.
func (r *DataRequest) Sort() string { return r.ID }

// Sealed returns a copy whose number is sealed.
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

// Unseal restores the number.
func (r *DataRequest) Unseal(f func(field, text string) (string, error)) (err error) {
	if r.SealedPhone == "" {
		return nil
	}
	r.Phone, err = f("phone", r.SealedPhone)
	r.SealedPhone = ""
	return err
}

// Public is the request as the API shows it.
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
