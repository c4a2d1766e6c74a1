package domain

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// DecisionLogStart records that retention deleted the first rows of a campaign's decision log. The log starts after
// the row Seq, whose hash was Hash. Proof is an HMAC under the key of the workspace, so that nobody else can remove
// the beginning of a log undetected.
type DecisionLogStart struct {
	WorkspaceID string `json:"workspace_id"`
	CampaignID  string `json:"campaign_id"`
	Seq         int    `json:"seq"`
	Hash        string `json:"hash"`
	Proof       string `json:"proof"`
}

// Key returns the store key.
func (s *DecisionLogStart) Key() Key { return Key{"decision_start", s.WorkspaceID, s.CampaignID + "/"} }

// Indexes returns no indexes.
func (s *DecisionLogStart) Indexes() []string { return nil }

// Sort returns an unused sort key: a campaign has one row.
func (s *DecisionLogStart) Sort() string { return "" }

// Sign sets the proof.
func (s *DecisionLogStart) Sign(key []byte) { s.Proof = s.computeProof(key) }

// IsValid reports whether the proof was made with key.
func (s *DecisionLogStart) IsValid(key []byte) bool {
	return hmac.Equal([]byte(s.Proof), []byte(s.computeProof(key)))
}

func (s *DecisionLogStart) computeProof(key []byte) string {
	var h hashWriter
	h.text(1, "start of a log of decisions")
	h.text(2, s.WorkspaceID)
	h.text(3, s.CampaignID)
	h.number(4, int64(s.Seq))
	h.text(5, s.Hash)
	mac := hmac.New(sha256.New, key)
	mac.Write(h.b)
	return hex.EncodeToString(mac.Sum(nil))
}
