package retention

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/domain"
)

// sweepAuditLog deletes expired audit entries, data requests and uploads of contacts.
func (s *Service) sweepAuditLog(ctx context.Context, workspaceID string, now time.Time) error {
	w := s.workspaces.Workspace(workspaceID)
	if w == nil {
		return nil
	}
	r := w.Retention
	return errors.Join(
		s.deleteRows(ctx, workspaceID, "data_request", domain.PrefixDataRequest, now.AddDate(0, 0, -r.AuditDays), r.AuditDays,
			func() domain.Record { return &domain.DataRequest{} }, func(row domain.Record, _ time.Time) bool {
				r, ok := row.(*domain.DataRequest)
				return ok && (r.Status == domain.DataExpired || r.Type == domain.DataErase && r.Status == domain.DataCompleted)
			}),
		s.deleteRows(ctx, workspaceID, "audit", domain.PrefixAudit, now.AddDate(0, 0, -r.AuditDays), r.AuditDays,
			func() domain.Record { return &domain.AuditEntry{} }, func(domain.Record, time.Time) bool { return true }),
		s.deleteRows(ctx, workspaceID, "upload", domain.PrefixUpload, now.AddDate(0, 0, -r.UploadDays), r.UploadDays,
			func() domain.Record { return &domain.Upload{} }, func(row domain.Record, _ time.Time) bool {
				u, ok := row.(*domain.Upload)
				return ok && u.Status != domain.UploadReceiving
			}),
	)
}
