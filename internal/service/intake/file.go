package intake

import (
	"context"
	"errors"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/limits"
)

// attrFile is the path of a file and its attr in the request.
type attrFile struct{ attr, path string }

// maxMissing is how many missing files one response lists.
const maxMissing = 100

// errNoFileStore is returned when files must be verified but no file store is
// configured.
var errNoFileStore = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeFileStoreUnavailable, RetryAfter: limits.FileStoreRetry,
	Detail: "The documents cannot be verified now. Send the same request again later.",
	Cause:  errors.New("no file store is configured"),
}

// checkPosted checks the files of a posting. Without an account, or with a paused
// supplier, it refuses without asking the file store; the writing transaction
// checks that again.
func (s *Service) checkPosted(
	ctx context.Context, who landfall.Principal, supplier landfall.Supplier, key landfall.Key, files []attrFile, absent error,
) error {
	if !supplier.VerifyDocuments || len(files) == 0 {
		return nil
	}
	if supplier.Status == landfall.Paused {
		return ErrSupplierNotOngoing
	}
	var process landfall.Process
	err := s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
		process, err = view.Process(ctx, key)
		return err
	})
	switch {
	case errors.Is(err, landfall.ErrNotFound):
		return absent
	case err != nil:
		return userError(err)
	case process.State != landfall.Imported:
		return absent
	}
	return s.checkFiles(ctx, supplier, files)
}

// checkFiles asks the file store whether files exist, if the supplier has that
// switched on. All missing files are returned at once; a file store that does not
// answer is a different error.
func (s *Service) checkFiles(ctx context.Context, supplier landfall.Supplier, files []attrFile) error {
	if !supplier.VerifyDocuments || len(files) == 0 {
		return nil
	}
	if s.files == nil {
		return errNoFileStore
	}
	// The same file may be used several times.
	answers := make(map[string]*landfall.Error, len(files))
	var paths []string
	for _, file := range files {
		if _, known := answers[file.path]; !known {
			answers[file.path] = nil
			paths = append(paths, file.path)
		}
	}
	found := make([]*landfall.Error, len(paths))
	err := ForEach(ctx, len(paths), func(ctx context.Context, i int) error {
		err := s.files.Check(ctx, supplier, paths[i])
		if errors.As(err, &found[i]) && found[i].Code == landfall.CodeFileMissing {
			return nil
		}
		return err
	})
	if err != nil {
		return userError(err)
	}
	for i, path := range paths {
		answers[path] = found[i]
	}
	return refuseMissing(files, answers)
}

// refuseMissing lists missing documents by their attrs. A body may have thousands,
// so the list is limited.
func refuseMissing(files []attrFile, answers map[string]*landfall.Error) error {
	var missing []landfall.Violation
	for _, file := range files {
		answer := answers[file.path]
		if answer == nil {
			continue
		}
		if len(missing) == maxMissing {
			missing = append(missing, landfall.Violation{
				Code: rules.CodeTooManyErrors, Detail: "There are more missing documents than these.",
			})
			break
		}
		missing = append(missing, landfall.Violation{Code: answer.Code, Attr: file.attr, Detail: answer.Detail})
	}
	if len(missing) == 0 {
		return nil
	}
	refusal := landfall.Refuse(landfall.CodeFileMissing, "Some documents are not in the file store.")
	refusal.Violations = missing
	return refusal
}
