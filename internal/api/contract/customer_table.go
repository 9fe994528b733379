package contract

import "landfall/internal/api/rules"

// customerTable has no required fields: a source system may know nothing about
// a customer except that there is one.
var customerTable = rules.NewTable("Customer", "A person or business on an account.",
	rules.Optional("given_name", rules.Text(255), "Given name or names."),
	rules.Optional("family_name", rules.Text(255), "Family name."),
	rules.Optional("title", rules.Text(20), "Title, such as Ms or Dr."),
	rules.Optional("salutation", rules.Text(128), "How to address the customer in a letter."),
	rules.Optional("email", optionalEmailText, "Email address."),
	rules.Optional("contact_emails", rules.List(0, maxContacts, emailText), "Additional email addresses."),
	rules.Optional("mobile", phoneText, "Mobile phone number. An empty string means none."),
	rules.Optional("landline", phoneText, "Landline phone number. An empty string means none."),
	rules.Optional("alternative_phone_numbers", rules.List(0, maxContacts, rules.Object(alternativePhoneTable)), "Additional phone numbers."),
	rules.Optional("date_of_birth", rules.Date(), "Date of birth. Must not be in the future."),
	rules.Optional("deceased", rules.OrEmpty(rules.Choice("Reported", "Confirmed")), "Set if the customer's death has been reported or confirmed."),
	rules.Optional("role", codeText, "The customer's role on the account."),
	rules.Optional("label", rules.Text(255), "Label used by support staff."),
	rules.Optional("user_identifier", rules.Line(128), "The customer's identifier in the source system."),
	rules.Optional("customer_preferences", rules.Object(preferencesTable), "Marketing and contact preferences."),
	rules.Optional("consents", rules.List(0, maxConsents, rules.Object(consentTable)), "Consents given by the customer."),
	rules.Optional("metadata", metadataList, metadataDoc),
)

// alternativePhoneTable wraps a phone number in an object because the interface
// has always had it that way.
var alternativePhoneTable = rules.NewTable("AlternativePhone", "An additional phone number of a customer.",
	rules.Required("phone_number", phoneText, "Phone number. An empty string means none."),
)

var preferencesTable = rules.NewTable("CustomerPreferences", "What the customer has opted in to.",
	rules.Optional("opted_into_sms", rules.Boolean(), "Text messages."),
	rules.Optional("opted_into_offers", rules.Boolean(), "Offers."),
	rules.Optional("opted_into_recommended", rules.Boolean(), "Recommendations."),
	rules.Optional("opted_into_updates", rules.Boolean(), "News and updates."),
	rules.Optional("opted_into_third_parties", rules.Boolean(), "Messages from third parties."),
)

var consentTable = rules.NewTable("Consent", "A consent of an account holder or customer.",
	rules.Required("type", codeText, "Subject of the consent, unique within the list."),
	rules.Required("value", rules.Choice("ACCEPTED", "REJECTED", "UNKNOWN", "PENDING"), "The decision."),
	rules.Optional("signed_at", rules.Datetime(), "When the decision was made. Must not be in the future."),
	rules.Optional("description", rules.Text(255), "Description of the consent."),
)
