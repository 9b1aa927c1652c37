"""What others published, which questions compare with: the numbers of the paper and of the published program, and the
logs of the authors' trainings on CIFAR."""

from highways.files import ROOT, read_json

PUBLISHED = read_json(ROOT / "data" / "published.json")
AUTHORS_LOGS = read_json(ROOT / "data" / "authors_logs_cifar.json")
